/* keycode - the engine's keys for items and index entries: bytes whose order is the order of DynamoDB.
 *
 *    item          | table id | hash     | partition key | sort key |
 *    index entry   | index id | hash     | its key's attributes     | base key's attributes that are not among them |
 *                    u32 BE     u64 BE     one component each
 *
 *    component of S, B:   its bytes, 00 written as 00 ff, then 00 01
 *    component of N:      its canonical bytes (number.h), then 00 unless it is negative
 *
 * K1. Bytes order as (id, hash, values in schema order); within a partition, as DynamoDB orders.
 * K2. Different keys are different bytes, and no key is a prefix of another: components delimit themselves.
 * K3. All keys of a partition lie in one range; so do all of a hash interval (a segment of a parallel scan) and all
 *     of a table or index.
 *
 * Values are trusted to be checked ones; lengths are not limited here (store_check_key). Keys are never decoded: what
 * is stored under them holds the attributes.
 * Threads: pure functions. */
#ifndef DYNAX_STORE_KEYCODE_H
#define DYNAX_STORE_KEYCODE_H

#include "store/table.h"

/* store_hash of the partition key in `map` (a Key or an item); false if an attribute is missing or has another type. */
bool keycode_hash(const struct key_schema *ks, struct slice map, uint64_t *hash) __attribute__((warn_unused_result));

/* Append the key of an item of a table; `map` is the item or its Key. False, with nothing appended, if a key attribute is
 * missing or has another type. hash may be NULL. */
bool keycode_item(struct buf *b, uint32_t table, const struct key_schema *ks, struct slice map, uint64_t *hash)
	__attribute__((warn_unused_result));
/* The same with the hash known, from store_check_key. */
bool keycode_hashed(struct buf *b, uint32_t table, const struct key_schema *ks, struct slice map, uint64_t hash)
	__attribute__((warn_unused_result));

/* Append the key of an item's entry in an index; `map` is the item, or a start key with all its attributes. False if the
 * item has no place in the index. base is the table's own schema; hash, that of the index's partition, may be NULL. */
bool keycode_entry(struct buf *b, const struct table_index *ix, const struct key_schema *base, struct slice map, uint64_t *hash)
	__attribute__((warn_unused_result));

/* Bounds are [lo, hi). Both bufs are cleared first. */

/* What a key condition selects in a table or index; false if that is nothing. hash: of the partition, may be NULL. */
bool keycode_condition(struct buf *lo, struct buf *hi, uint32_t id, const struct key_schema *ks,
	const struct key_condition *kc, uint64_t *hash) __attribute__((warn_unused_result));
/* Segment `segment` of `total`; 0 of 1 is the whole table or index. */
void keycode_segment(struct buf *lo, struct buf *hi, uint32_t id, uint32_t segment, uint32_t total);
/* The keys of hashes in [from, to); to = 0: up to the last. */
void keycode_range(struct buf *lo, struct buf *hi, uint32_t id, uint64_t from, uint64_t to);
/* The segment that a partition lies in. */
uint32_t keycode_segment_of(uint64_t hash, uint32_t total);

/* The hash in a key; what is missing of a short bound counts as zero. */
uint64_t keycode_hash_in(struct slice key);

/* Make a key into the bound after all keys that begin with it. */
void keycode_after_prefix(struct buf *b);
/* Make a key into the bound right after it. */
void keycode_after(struct buf *b);

#endif
