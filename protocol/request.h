/* request - one request after its door: an operation and a checked record, and the foremost fault of its values.
 *
 * Order of complaints, as the service's: first what cannot be read at all (SerializationException, at the door),
 * then the list of constraints (validate), then attribute values (value_fault), then what the operation itself
 * checks: combinations, expressions, table, key, condition. GetItem, PutItem, UpdateItem, DeleteItem, Query and Scan look at
 * their combinations of parameters before any value, and at the values of each parameter when they come to it.
 *
 * Threads: belongs to one at a time. Ownership: all its bytes live in `arena`, or in the door's input buffer
 * until the request is finished. */
#ifndef DYNAX_PROTOCOL_REQUEST_H
#define DYNAX_PROTOCOL_REQUEST_H

#include "protocol/op.h"

/* The parameters that values stand in, in the order in which they are looked at. */
enum value_place {
	VALUES_ITEM, /* an item, a key, and all that is not below */
	VALUES_UPDATES,
	VALUES_EXPECTED,
	VALUES_FILTER,
	VALUES_START_KEY,
	VALUES_EXPRESSION,
	VALUES_KEY_CONDITIONS
};

struct request {
	enum op op;
	struct arena *arena;
	struct slice bytes;          /* the record */
	struct record in;            /* the record, opened */
	/* Of the attribute values that DynamoDB would refuse (a bad number, an empty set, ...) the first of the foremost place. The
	 * place decides the words around it, so the operation reports it, through request_check or request_check_values. */
	struct fault value_fault;
	enum value_place value_place;
	struct slice value_key;      /* name inside the parameter, if it is a map: ":v" */
	const struct bound *bound;   /* NULL, or for each of its actions (expr.h) what stands for its expressions */
};

/* Open a record that was read by a codec. */
enum err request_open(struct request *r, enum op op, struct slice bytes, struct arena *a, struct fault *f)
	__attribute__((warn_unused_result));
/* Constraints, then the value fault in the words of its place, but for the operations that report it by request_check_values.
 * Every operation begins with it. */
enum err request_check(const struct request *r, struct fault *f) __attribute__((warn_unused_result));
/* The value fault, if it stands in `last` or before. */
enum err request_check_values(const struct request *r, enum value_place last, struct fault *f) __attribute__((warn_unused_result));

#endif
