/* shape - what requests and answers look like: one table for both codecs, the validator and their readers.
 *
 * A request, an answer, the members of an error: each is a "record", one msgpack map from member identifier
 * (its place in shapes.def, a small integer) to value, identifiers ascending. Inside a record:
 *
 *    struct -> record        list -> array          map  -> map str->value, names sorted and unique
 *    string -> str           int, long -> integer   double, timestamp (seconds) -> float64
 *    bool   -> true, false   attribute value, item -> as in value.h
 *
 * The HTTP door transcodes JSON to and from this form; the msgpack door carries it. The rest of dynax sees
 * records only.
 *
 * S1. In a checked request equal requests are equal bytes, however a client spelled them.
 *
 * Threads: tables are constant; functions are pure. */
#ifndef DYNAX_PROTOCOL_SHAPE_H
#define DYNAX_PROTOCOL_SHAPE_H

#include "protocol/err.h"
#include "protocol/mp.h"

enum shape_kind {
	SHAPE_KIND_STRUCT, SHAPE_KIND_LIST, SHAPE_KIND_MAP,
	SHAPE_KIND_STRING, SHAPE_KIND_ENUM, SHAPE_KIND_INT, SHAPE_KIND_LONG, SHAPE_KIND_DOUBLE,
	SHAPE_KIND_TIMESTAMP, SHAPE_KIND_BOOL, SHAPE_KIND_BLOB,
	SHAPE_KIND_VALUE,            /* an attribute value */
	SHAPE_KIND_ITEM              /* name -> attribute value */
};

#define SHAPE_NO_MIN INT64_MIN
#define SHAPE_NO_MAX INT64_MAX

struct shape_member {
	const char *name;
	uint8_t name_len;
	bool required;
	const struct shape *shape;
};

struct shape {
	const char *name;
	enum shape_kind kind;
	int64_t min, max;                   /* length of string, list, map (0 = no bound); value of int, long */
	const char *pattern;                /* of a string, or NULL */
	const char *const *values;          /* of an enum, NULL-terminated */
	const struct shape *key, *element;  /* of a map or item: key; of a list or map: element */
	const struct shape_member *member;  /* of a struct: in identifier order */
	unsigned members;
};

/* Identifiers: GetItemInput_TableName, ... and the shapes themselves: shape_GetItemInput, ... */
#define REQUIRED true
#define OPTIONAL false
#define SHAPE_STRUCT(name, ...) enum name##_member { __VA_ARGS__ name##_MEMBERS };
#define MEMBER(s, m, shape, req) s##_##m,
#include "protocol/shapes.def"

#define SHAPE_OTHER(name) extern const struct shape shape_##name;
#include "protocol/shapes.def"
extern const struct shape shape_AttributeValue;

/* A structure's member by name: its identifier, or -1. */
int shape_member_id(const struct shape *shape, struct slice name);

/* The shape of the members that go beside an error's message; NULL if there are none. */
const struct shape *shape_of_error(enum err code);

/* One record taken apart, one level deep: m[id] is the encoded value, or absent. Borrows the record's bytes. */
enum { RECORD_MEMBERS_MAX = 32 };
struct record {
	const struct shape *shape;
	struct slice m[RECORD_MEMBERS_MAX];
};

/* False if the bytes are not a record of this shape (identifiers unknown, doubled or out of order). */
bool record_open(struct record *r, const struct shape *shape, struct slice bytes) __attribute__((warn_unused_result));

static inline bool record_has(const struct record *r, unsigned id)
{
	return slice_present(r->m[id]);
}
/* Members of checked records; an absent one gives an absent slice, `otherwise`, or 0 elements. */
struct slice record_str(const struct record *r, unsigned id);            /* the bytes of a string or enum */
int64_t record_int(const struct record *r, unsigned id, int64_t otherwise);
bool record_bool(const struct record *r, unsigned id);                    /* absent = false */
double record_double(const struct record *r, unsigned id, double otherwise);
bool record_is(const struct record *r, unsigned id, const char *enum_value);
struct mp record_list(const struct record *r, unsigned id, uint32_t *n);  /* also of a map: n pairs */

/* Writing a record whose number of members is not known in advance:
 *    size_t at = record_begin(b); record_key(b, &n, GetItemOutput_Item); buf_put_slice(b, item); record_end(b, at, n); */
size_t record_begin(struct buf *b);
void record_key(struct buf *b, unsigned *n, unsigned id);
void record_end(struct buf *b, size_t at, unsigned n);
void record_put_str(struct buf *b, unsigned *n, unsigned id, struct slice s);
void record_put_int(struct buf *b, unsigned *n, unsigned id, int64_t v);
void record_put_bool(struct buf *b, unsigned *n, unsigned id, bool v);
void record_put_double(struct buf *b, unsigned *n, unsigned id, double v);
/* The same open-ended way for lists and maps of unknown length (patched in when closed). */
size_t list_begin(struct buf *b);
void list_end(struct buf *b, size_t at, uint32_t n);
size_t map_begin(struct buf *b);
void map_end(struct buf *b, size_t at, uint32_t n);

/* Check bytes from a msgpack peer: shape, kinds, canonical form (S1). ERR_SERIALIZATION if they are not a record of
 * this shape. What is only wrong by DynamoDB's rules is left to validate(). */
enum err record_check(const struct shape *shape, struct slice bytes, struct fault *f) __attribute__((warn_unused_result));

/* DynamoDB's constraint list: required members, lengths, ranges, patterns, enumerations, all at once:
 * "2 validation errors detected: Value '...' at 'tableName' failed to satisfy constraint: ...; Value null at ...". */
enum err validate(const struct shape *shape, struct slice bytes, struct fault *f) __attribute__((warn_unused_result));

#endif
