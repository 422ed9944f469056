/* index_admit - when a global index is changed: with its table, later, or not at all, because it is too far behind.
 *
 * The rules are told in propagation.h. Local indexes are a part of their table here: changed with it, paid for by it.
 * Deletions by time to live are neither refused nor charged (throughput.h, P3).
 *
 * Threads: the writer only. */
#ifndef DYNAX_STORE_INDEX_ADMIT_H
#define DYNAX_STORE_INDEX_ADMIT_H

#include "store/index.h"
#include "store/throughput.h"

enum { INDEX_BEHIND_SECONDS = 5 };

/* Decide for each change of a plan for the item with this engine key whether it is made later; an error of throughput_refuse if an
 * index is too far behind. */
enum err index_admit(struct write_txn *t, const struct table *table, struct slice item_key, struct index_plan *p, bool expired,
	struct fault *f) __attribute__((warn_unused_result));
/* Charge what is changed at once. */
void index_charge(struct write_txn *t, const struct table *table, const struct index_plan *p);
/* Charge one change if there is throughput for it. If not, nothing is charged: whose is missing, and a partition's by `hash`. */
enum throughput_spent index_pay(struct store *s, const struct table *table, const struct table_index *x, const struct index_move *m,
	uint64_t *hash);

#endif
