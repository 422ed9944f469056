/* ttl - items that expire: an index of their times, kept by the writes themselves, and what deletes them.
 *
 *    item_apply --ttl_maintain--> | expiry index id | second | the item's key | -> nothing       in the write's transaction
 *    keeper     --ttl_sweep-----> from five years ago to now: a page of keys
 *                 writer: is the item's time still that one? then an ordinary deletion, marked as the service's
 *    keeper     --ttl_fill------> enters the items that were there before time to live was enabled
 *
 * X1. An item is in the index exactly if its attribute is a number with a whole part from 0 on, and under that second.
 *     So a round costs what has expired, however large the table is.
 * X2. The writer looks at the item anew: one that was changed meanwhile stays.
 * X3. Enabling takes a new index; disabling drops it. Filling may begin again from the start: entering is repeatable.
 *
 * As the service does, it ignores values that are no numbers, and times more than five years past; and reads return an
 * expired item until it is deleted. Deleting costs the table no write capacity.
 * Source: "Using time to live (TTL) in DynamoDB" in the developer guide.
 * Threads: the writer only, but for ttl_second, which is pure. */
#ifndef DYNAX_STORE_TTL_H
#define DYNAX_STORE_TTL_H

#include "store/write_plan.h"
#include "store/write_txn.h"

enum { TTL_PAST_SECONDS = 5 * 365 * 24 * 60 * 60 + 24 * 60 * 60, TTL_KEY_HEAD = 12 };

/* The second at which the item (absent = none) expires; false if it does not. */
bool ttl_second(struct slice item, struct slice attribute, uint64_t *second) __attribute__((warn_unused_result));
/* The head of the keys of a second. */
struct slice ttl_key_head(uint32_t ttl_id, uint64_t second, uint8_t out[TTL_KEY_HEAD]);
/* op->old became op->new. */
void ttl_maintain(struct write_txn *t, const struct catalog_table *ct, const struct item_op *op);
/* Enter an item that is there already. */
void ttl_enter(struct write_txn *t, const struct catalog_table *ct, struct slice ekey, struct slice item);
/* Forget an expiry index; 0 = none. */
void ttl_drop(struct write_txn *t, uint32_t ttl_id);

#endif
