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
	r->value_member = NULL;
	r->value_key = SLICE_NONE;
	return ERR_OK;
}
