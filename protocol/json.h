/* json - DynamoDB's JSON to and from records, in one streaming pass, with no tree in between.
 *
 * Reading rests on yajl (a SAX parser), driven by the shape: a mistake of kind ("NUMBER_VALUE cannot be
 * converted to String") is a SerializationException; numbers, sets and items become canonical on the way.
 * Writing walks a record beside its shape.
 *
 * Threads: a json_reader belongs to one thread. */
#ifndef DYNAX_PROTOCOL_JSON_H
#define DYNAX_PROTOCOL_JSON_H

#include "protocol/request.h"

struct json_reader;

struct json_reader *json_reader_new(void);
void json_reader_free(struct json_reader **r);

/* Read a whole body as a request of `op`. The record lives in `a`. On failure f tells, and req is untouched. */
enum err json_read_request(struct json_reader *r, enum op op, struct slice body, struct arena *a,
	struct request *req, struct fault *f) __attribute__((warn_unused_result));

/* The record of a request of `op` alone, in the reader's memory until its next use. False if there is anything to be said
 * about it, which json_read_request then does, or if it is very long. */
bool json_read_record(struct json_reader *r, enum op op, struct slice body, struct slice *record)
	__attribute__((warn_unused_result));

/* Read any shape (tests, the command line, the remote backend): a record of `shape` is appended to out. */
enum err json_read(struct json_reader *r, const struct shape *shape, struct slice body, struct arena *a,
	struct buf *out, struct fault *f) __attribute__((warn_unused_result));

/* Is the text one JSON value, of any kind, and nothing else? */
enum err json_check(struct json_reader *r, struct slice text, struct arena *a, struct fault *f) __attribute__((warn_unused_result));

/* Append the record as JSON. The record is trusted. */
void json_write(struct buf *out, const struct shape *shape, struct slice record);
/* Append {"__type":"...","message":"...", ...} for an error, with the members of f->detail. */
void json_write_fault(struct buf *out, const struct fault *f);
/* Append a JSON string with quotes, escaped. */
void json_write_string(struct buf *out, struct slice s);
/* Append one attribute value as {"S":"..."}. */
void json_write_value(struct buf *out, struct slice value);

#endif
