/* check_key - are the keys of a request, and of an item, what the table's schema asks for?
 *
 * (store_check_key, for a Key, is in store.h.) All errors are ERR_VALIDATION. Threads: pure functions. */
#ifndef DYNAX_STORE_CHECK_KEY_H
#define DYNAX_STORE_CHECK_KEY_H

#include "store/store.h"

/* Length and emptiness of one key value whose type is right. */
enum err check_key_value(const struct key_attr *a, struct slice v, bool hash, struct fault *f)
	__attribute__((warn_unused_result));
/* What can be said of an item to be put without its table: its size, and its names. */
enum err check_put_item(struct slice item, struct fault *f) __attribute__((warn_unused_result));
/* The table's key inside an item that is to be put. Gives the hash of its partition key. */
enum err check_item_key(const struct table *t, struct slice item, uint64_t *hash, struct fault *f)
	__attribute__((warn_unused_result));
/* Attributes of an item to be put that are keys of an index: absent, or of the right type, not empty, and not too long. */
enum err check_index_keys(const struct table *t, struct slice item, struct fault *f) __attribute__((warn_unused_result));
/* Only their types: of the faults with them, the one that is the action's own in a transaction. */
enum err check_index_types(const struct table *t, struct slice item, struct fault *f) __attribute__((warn_unused_result));
/* Empty values for keys refuse a transaction as a whole, other faults with keys only cancel it; so they are looked for first:
 * in a Key (or an item to be put) and, for the keys of indexes, in an item to be put (absent = none) and in what an update
 * (NULL = none) gives. */
enum err check_filled(const struct table *t, struct slice key, struct slice item, const struct update *u, struct fault *f)
	__attribute__((warn_unused_result));
/* Has the item a place in an index with this key? Every attribute is there, of its type, not empty, not too long. */
bool check_index_holds(const struct key_schema *ks, struct slice item);
/* An update (NULL = none) against the table's keys, which it may not touch, and, by the values it brings itself, against the keys
 * of indexes. */
enum err check_update(const struct table *t, const struct update *u, struct fault *f) __attribute__((warn_unused_result));
/* An item that an update has made against the keys of indexes. */
enum err check_updated_index_keys(const struct table *t, struct slice item, struct fault *f)
	__attribute__((warn_unused_result));
/* The Key of an item whose key has been checked: a canonical map in the arena; absent if memory is out. */
struct slice check_key_of(const struct table *t, struct slice item, struct arena *a);

#endif
