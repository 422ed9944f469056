/* request - see request.h. */
#include "protocol/messages.h"
#include "protocol/request.h"

enum err request_open(struct request *r, enum op op, struct slice bytes, struct arena *a, struct fault *f)
{
	if (!record_open(&r->in, op_info[op].in, bytes))
		return fault_set(f, MSG_RECORD_BAD, op_info[op].name);
	r->op = op;
	r->arena = a;
	r->bytes = bytes;
	fault_init(&r->value_fault, a);
	r->value_place = VALUES_ITEM;
	r->value_key = SLICE_NONE;
	r->bound = NULL;
	return ERR_OK;
}

/* Operations that ask for their parameters in words of their own, before the list of constraints. */
static enum err check_presence(const struct request *r, struct fault *f)
{
	uint32_t n;

	switch (r->op) {
	case OP_CreateTable:
	case OP_DescribeTable:
	case OP_DeleteTable:
	case OP_UpdateTable:
	case OP_DescribeTimeToLive:
		if (!record_has(&r->in, (unsigned)shape_member_id(op_info[r->op].in, SLICE_LIT("TableName"))))
			return fault_set(f, MSG_PARAMETER_REQUIRED, "TableName");
		return ERR_OK;
	case OP_BatchGetItem:
		record_list(&r->in, BatchGetItemInput_RequestItems, &n);
		if (n == 0 && record_has(&r->in, BatchGetItemInput_RequestItems))
			return fault_set(f, MSG_REQUEST_ITEMS_REQUIRED, "BatchGetItem");
		return ERR_OK;
	case OP_BatchWriteItem:
		record_list(&r->in, BatchWriteItemInput_RequestItems, &n);
		if (n == 0 && record_has(&r->in, BatchWriteItemInput_RequestItems))
			return fault_set(f, MSG_REQUEST_ITEMS_REQUIRED, "BatchWriteItem");
		return ERR_OK;
	default:
		return ERR_OK;
	}
}

/* The service announces the starting key in front of some of these texts only. */
static bool announces_start_key(const char *text)
{
	static const char *const plain[] = {
		"contains duplicates", "number set", "numeric value", "significant digits", "number with magnitude",
	};

	for (size_t i = 0; i < sizeof plain / sizeof plain[0]; i++)
		if (strstr(text, plain[i]) != NULL)
			return false;
	return true;
}

enum err request_check_values(const struct request *r, enum value_place last, struct fault *f)
{
	const char *text = r->value_fault.text;

	if (r->value_fault.code == ERR_OK || r->value_place > last)
		return ERR_OK;
	if (r->value_place == VALUES_EXPRESSION && r->value_key.n > 0)
		return fault_set(f, MSG_VALUE_IN_EXPRESSION, text, SLICE_FMT(r->value_key));
	if (r->value_place == VALUES_START_KEY && announces_start_key(text))
		return fault_set(f, MSG_VALUE_IN_START_KEY, text);
	return fault_set(f, r->value_fault.code, "%s", text);
}

static bool values_wait(enum op op)
{
	return op == OP_GetItem || op == OP_PutItem || op == OP_UpdateItem || op == OP_DeleteItem || op == OP_Query || op == OP_Scan;
}

enum err request_check(const struct request *r, struct fault *f)
{
	enum err rc = check_presence(r, f);

	if (rc == ERR_OK)
		rc = validate(op_info[r->op].in, r->bytes, f);
	return rc == ERR_OK && !values_wait(r->op) ? request_check_values(r, VALUES_KEY_CONDITIONS, f) : rc;
}
