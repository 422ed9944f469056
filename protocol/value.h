/* value - attribute values and items, as bytes: the one format on the wire, in the caches and in LMDB.
 *
 *    S   str            BOOL  true, false     N   ext 1, canonical number (number.h)
 *    B   bin            NULL  nil             SS  ext 2, an array of str inside
 *    L   array          M     map str->value  NS  ext 3, an array of ext 1 inside
 *    an item is an M                          BS  ext 4, an array of bin inside
 *
 * V1. Equal values are equal bytes: lengths take msgpack's shortest form, numbers are canonical, the names of a
 *     map are sorted by slice_cmp and unique, the members of a set likewise (numbers by their canonical bytes).
 * V2. A value nests at most 32 levels, sets hold at least one member, names have 1..65535 bytes, strings are UTF-8.
 *
 * Bytes from outside go through value_check once; all else here takes checked bytes.
 * Threads: pure functions. Nothing here allocates, except onto the buf it is given. */
#ifndef DYNAX_PROTOCOL_VALUE_H
#define DYNAX_PROTOCOL_VALUE_H

#include "protocol/arena.h"
#include "protocol/mp.h"
#include "protocol/number.h"
#include "protocol/utf8.h"

enum { VALUE_EXT_N = 1, VALUE_EXT_SS = 2, VALUE_EXT_NS = 3, VALUE_EXT_BS = 4 };
enum { VALUE_DEPTH_MAX = 32, VALUE_NAME_MAX = 65535, ITEM_SIZE_MAX = 400 * 1024 };

/* X(symbol, name in DynamoDB's JSON, name in some error texts) */
#define VALUE_TYPES(X) \
	X(S, "S", "STRING") X(N, "N", "NUMBER") X(B, "B", "BINARY") \
	X(SS, "SS", "STRING_SET") X(NS, "NS", "NUMBER_SET") X(BS, "BS", "BINARY_SET") \
	X(BOOL, "BOOL", "BOOLEAN") X(NULL, "NULL", "NULL") X(L, "L", "LIST") X(M, "M", "MAP")

enum value_type {
#define X(sym, name, word) VALUE_##sym,
	VALUE_TYPES(X)
#undef X
	VALUE_BAD
};

const char *value_type_name(enum value_type t); /* "SS" */
const char *value_type_word(enum value_type t); /* "STRING_SET" */

enum value_type value_type(struct slice v);
/* Payload of an S or B: the bytes themselves; of an N: its canonical number. */
struct slice value_bytes(struct slice v);
bool value_bool(struct slice v);
/* Number of members of an L, M, SS, NS or BS. */
uint32_t value_count(struct slice v);

/* Walk an L or a set: `for (struct mp m = value_elements(v, &n); n > 0; n--) x = mp_skip(&m);` members of a
 * set are values too (str, ext 1 or bin). */
struct mp value_elements(struct slice v, uint32_t *n);
/* Walk an M or an item: n pairs of mp_str (name) and mp_skip (value). */
struct mp value_pairs(struct slice v, uint32_t *n);

/* The value of a name in an M or item; absent (p == NULL) if it is not there. */
struct slice map_get(struct slice map, struct slice name);
/* Element i of an L; absent if there are not that many. */
struct slice list_get(struct slice list, uint32_t i);
/* Is x (a str, ext 1 or bin value) a member of the set? */
bool set_has(struct slice set, struct slice x);

static inline bool value_eq(struct slice a, struct slice b)
{
	return slice_eq(a, b); /* V1 */
}
/* Order of two values of one type S, N or B; <0, 0, >0. */
int value_cmp(struct slice a, struct slice b);

/* DynamoDB's own size rule ("DynamoDB item sizes and formats" in the developer guide): of a value, and of an
 * item or map of attributes (names and values). Bytes. */
size_t value_size(struct slice v);
size_t item_size(struct slice item);

/* Is this one whole value in the format above? For bytes from a peer or a file. */
bool value_check(struct slice v);
bool item_check(struct slice item);

/* Writing. Maps and sets must be put in order: see map_builder. */
void value_put_string(struct buf *b, struct slice s);
void value_put_binary(struct buf *b, struct slice s);
void value_put_number(struct buf *b, struct slice canonical);
void value_put_int(struct buf *b, int64_t v);
void value_put_bool(struct buf *b, bool v);
void value_put_null(struct buf *b);

/* Collects pairs in any order and writes them as a canonical map; the last of two equal names wins.
 * Lives in an arena; sticky failure when that is out of memory. */
struct map_builder {
	struct arena *arena;
	struct map_pair *pair;
	uint32_t n, cap;
	bool failed;
};
struct map_pair {
	struct slice name, value; /* value: encoded; both borrowed until map_put */
	uint32_t order;           /* of arrival */
};
void map_builder_init(struct map_builder *m, struct arena *a);
void map_builder_add(struct map_builder *m, struct slice name, struct slice value);
/* Write the map; false if out of memory. */
bool map_put(struct map_builder *m, struct buf *b) __attribute__((warn_unused_result));

/* Sort `n` (at least 1) encoded members and write the set. False, with nothing written, if two are equal. */
bool set_put(struct buf *b, int8_t ext, struct slice *member, uint32_t n) __attribute__((warn_unused_result));

#endif
