/* op - the table of operations, and finding one by name. */
#include "protocol/op.h"

const struct op_info op_info[OP_COUNT] = {
#define X(name, in, out, kind, service) { #name, &shape_##in, &shape_##out, OP_##kind, OP_##service },
	OP_TABLE(X)
#undef X
};

/* Lengths first: the commonest request ends at the table's first line, the rarest after thirty compared bytes. */
static const uint8_t name_len[OP_COUNT] = {
#define X(name, in, out, kind, service) sizeof(#name) - 1,
	OP_TABLE(X)
#undef X
};

enum op op_by_name(struct slice name)
{
	for (unsigned i = 0; i < OP_COUNT; i++)
		if (name_len[i] == name.n && memcmp(op_info[i].name, name.p, name.n) == 0)
			return (enum op)i;
	return OP_COUNT;
}

static const struct slice target_prefix[] = {
	[OP_DYNAMODB] = { (const uint8_t *)"DynamoDB_20120810.", 18 },
	[OP_STREAMS] = { (const uint8_t *)"DynamoDBStreams_20120810.", 25 },
	[OP_SCALING] = { (const uint8_t *)"AnyScaleFrontendService.", 24 },
};

enum op op_by_target(struct slice target)
{
	for (unsigned s = 0; s < sizeof target_prefix / sizeof target_prefix[0]; s++) {
		struct slice prefix = target_prefix[s];
		enum op op;

		if (!slice_starts_with(target, prefix))
			continue;
		op = op_by_name(slice_of(target.p + prefix.n, target.n - prefix.n));
		return op != OP_COUNT && op_info[op].service == (enum op_service)s ? op : OP_COUNT;
	}
	return OP_COUNT;
}
