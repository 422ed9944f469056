/* control - what the operations that change the catalog share.
 *
 *    write_txn_begin -> ... control_put_table -> control_answer -> control_end (commits and adopts, or undoes)
 *
 * Threads: the writer only, but for the pure control_table_name, control_arn_check, control_record_copy and control_spec_put. */
#ifndef DYNAX_STORE_CONTROL_H
#define DYNAX_STORE_CONTROL_H

#include "store/write_plan.h"
#include "store/write_txn.h"

enum { TABLE_NAME_MIN = 3 };

/* The table's name in a name or ARN. */
struct slice control_table_name(struct slice name_or_arn);
/* Is this the ARN of a table? */
enum err control_arn_check(struct slice arn, struct fault *f) __attribute__((warn_unused_result));
/* The record, written anew from its members; absent if memory is out. */
struct slice control_record_copy(const struct record *r, struct arena *a);
/* A CreateTableInput with the bare name, in the arena; absent if memory is out. */
struct slice control_spec_put(const struct record *spec, struct arena *a);

/* n ids, never used before. */
enum err control_take_ids(struct write_txn *t, unsigned n, uint32_t *first, struct fault *f) __attribute__((warn_unused_result));
/* Write a table's description; *next is the catalog with it. */
enum err control_put_table(struct write_txn *t, const struct catalog_draft *d, struct catalog **next, struct fault *f)
	__attribute__((warn_unused_result));
/* A draft of a table as it is, to be changed; its arrays have room for one index more. */
enum err control_draft(const struct catalog_table *t, struct arena *a, struct catalog_draft *d, struct fault *f)
	__attribute__((warn_unused_result));
/* Forget all that is stored of a table or index. */
void control_drop(struct write_txn *t, uint32_t id);
void control_drop_counters(struct write_txn *t, const struct partitions *p);
/* rc ERR_OK: commit, and *next is the batch's catalog. Otherwise undo all. */
enum err control_end(struct write_txn *t, struct catalog **next, enum err rc, struct fault *f) __attribute__((warn_unused_result));

/* Counters of a table and its indexes (DESCRIBED_MAX at most). */
enum err control_counters(struct write_batch *b, const struct table *t, struct counters *c, struct fault *f)
	__attribute__((warn_unused_result));
enum err control_answer(struct write_batch *b, struct store_write *w, const struct catalog_table *t, const char *status,
	const struct counters *c) __attribute__((warn_unused_result));

#endif
