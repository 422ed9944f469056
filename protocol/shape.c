/* shape - the tables of shapes.def, made into constants that point at each other. */
#include "protocol/shape.h"

/* First what the shapes point at: enumerations' values and structures' members. */
#define SHAPE_STRUCT(name, ...) static const struct shape_member members_##name[] = { __VA_ARGS__ };
#define MEMBER(s, m, shape, req) { #m, sizeof(#m) - 1, req, &shape_##shape },
#define SHAPE_ENUM(name, ...) static const char *const values_##name[] = { __VA_ARGS__, NULL };
#include "protocol/shapes.def"

#define DEFINE(n, k, ...) const struct shape shape_##n = { .name = #n, .kind = SHAPE_KIND_##k, __VA_ARGS__ };
#define BOUNDS(lo, hi) .min = (lo), .max = (hi)
#define SHAPE_STRUCT(n, ...) \
	_Static_assert((int)n##_MEMBERS <= (int)RECORD_MEMBERS_MAX, "struct record is too small for " #n); \
	DEFINE(n, STRUCT, .member = members_##n, .members = n##_MEMBERS)
#define SHAPE_EMPTY(n) DEFINE(n, STRUCT, .members = 0)
#define SHAPE_STRING(n, lo, hi, re) DEFINE(n, STRING, BOUNDS(lo, hi), .pattern = (re))
#define SHAPE_ENUM(n, ...) DEFINE(n, ENUM, .values = values_##n)
#define SHAPE_INT(n, lo, hi) DEFINE(n, INT, BOUNDS(lo, hi))
#define SHAPE_LONG(n, lo, hi) DEFINE(n, LONG, BOUNDS(lo, hi))
#define SHAPE_DOUBLE(n) DEFINE(n, DOUBLE, BOUNDS(0, 0))
#define SHAPE_TIMESTAMP(n) DEFINE(n, TIMESTAMP, BOUNDS(0, 0))
#define SHAPE_BOOL(n) DEFINE(n, BOOL, BOUNDS(0, 0))
#define SHAPE_BLOB(n) DEFINE(n, BLOB, BOUNDS(0, 0))
#define SHAPE_LIST(n, of, lo, hi) DEFINE(n, LIST, BOUNDS(lo, hi), .element = &shape_##of)
#define SHAPE_MAP(n, by, of, lo, hi) DEFINE(n, MAP, BOUNDS(lo, hi), .key = &shape_##by, .element = &shape_##of)
#define SHAPE_ITEM(n, by, lo, hi) DEFINE(n, ITEM, BOUNDS(lo, hi), .key = &shape_##by, .element = &shape_AttributeValue)
#include "protocol/shapes.def"

const struct shape shape_AttributeValue = { .name = "AttributeValue", .kind = SHAPE_KIND_VALUE };

int shape_member_id(const struct shape *shape, struct slice name)
{
	for (unsigned i = 0; i < shape->members; i++) {
		const struct shape_member *m = &shape->member[i];

		if (m->name_len == name.n && memcmp(m->name, name.p, name.n) == 0)
			return (int)i;
	}
	return -1;
}

const struct shape *shape_of_error(enum err code)
{
	switch (code) {
	case ERR_CONDITION_FAILED:
		return &shape_ConditionalCheckFailedException;
	case ERR_TRANSACTION_CANCELED:
		return &shape_TransactionCanceledException;
	case ERR_THROUGHPUT_EXCEEDED:
		return &shape_ProvisionedThroughputExceededException;
	case ERR_THROTTLING:
		return &shape_ThrottlingException;
	default:
		return NULL;
	}
}
