/* request - one request after its door: an operation and a checked record, and the first fault of its values.
 *
 * Order of complaints, as the service's: first what cannot be read at all (SerializationException, at the door),
 * then the list of constraints (validate), then attribute values (value_fault), then what the operation itself
 * checks: combinations, expressions, table, key, condition.
 *
 * Threads: belongs to one at a time. Ownership: all its bytes live in `arena`, or in the door's input buffer
 * until the request is finished. */
#ifndef DYNAX_PROTOCOL_REQUEST_H
#define DYNAX_PROTOCOL_REQUEST_H

#include "protocol/op.h"

struct request {
	enum op op;
	struct arena *arena;
	struct slice bytes;          /* the record */
	struct record in;            /* the record, opened */
	/* The first attribute value that DynamoDB would refuse (a bad number, an empty set, ...). Where it stood decides
	 * the words around it, so the operation reports it, through request_check. */
	struct fault value_fault;
	const char *value_member;    /* member of the innermost structure it stood in: "Item", "ExpressionAttributeValues"; or NULL */
	struct slice value_key;      /* name inside that member, if it is a map: ":v" */
	const struct bound *bound;   /* NULL, or for each of its actions (expr.h) what stands for its expressions */
};

/* Open a record that was read by a codec. */
enum err request_open(struct request *r, enum op op, struct slice bytes, struct arena *a, struct fault *f)
	__attribute__((warn_unused_result));
/* Constraints, then the value fault in the words of its place. Every operation begins with it. */
enum err request_check(const struct request *r, struct fault *f) __attribute__((warn_unused_result));

#endif
