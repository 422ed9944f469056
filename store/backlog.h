/* backlog - what a global index has not been told yet: rows, each put by the transaction that changes an item.
 *
 *    item_apply --backlog_append--> | 0, 'g' | index id | sequence number | -> [time, item, entry before, entry after]
 *    propagation thread (propagation.h) --> index_move and backlog_remove, in one transaction
 *
 * L1. A row is there exactly if its change is and has not been carried out. So every change reaches its index once, over
 *     crashes too.
 * L2. The rows of one item in an index are carried out in the order of their numbers, which is the order of the changes; and
 *     a change is made directly (index.h) only if its item has no row (L4). So an entry never goes back to an older version of its
 *     item. Rows that have been carried out before others leave gaps.
 * L3. An index that is being built (backfill.h) has no rows: nobody can read it, so nobody sees it late.
 * L4. A change follows the rows, as one of them, if some are in line (propagation.h, R3); or if a partition from or to which it
 *     moves an entry owes for a row; or if there is no entry, and a row is there that leaves an item of its kind without one. An
 *     item's last row leaves the very entry that its next change begins with, so one of the last two finds it.
 *
 * What is known of the rows is kept in memory too, and lives as long as the index, whatever its descriptions; it is found again
 * from the rows when the store is opened. What a transaction or a batch that is undone did to it is undone as well.
 *
 * Threads: the writer, but for backlog_look, and backlog_read, which any may call. */
#ifndef DYNAX_STORE_BACKLOG_H
#define DYNAX_STORE_BACKLOG_H

#include <stdatomic.h>

#include "protocol/arena.h"
#include "protocol/err.h"

struct store;
struct table_index;
struct write_batch;
struct write_txn;

/* What is done to an index: an entry goes, comes, or is replaced. */
struct index_side {
	struct slice key;                /* absent: no entry */
	uint64_t hash;                   /* of its partition key */
	uint64_t bytes;
	uint64_t cost;                   /* half units */
};
struct index_move {
	struct index_side before, after;
	struct slice value;              /* of the entry that comes */
};
static inline uint64_t index_move_cost(const struct index_move *m)
{
	return m->before.cost + m->after.cost;
}

struct backlog_row {
	uint64_t number, time_ms;        /* by the store's clock */
	uint64_t item;                   /* hash of the item's key: rows of different items may share one */
	struct index_move move;          /* its cost is charged when it is carried out */
};

struct backlog_state {
	uint64_t first, next;            /* numbers of the first row, and of one that comes; equal: there is none */
	uint64_t rows;
	uint64_t cost;                   /* of all rows, half units */
	uint64_t oldest_ms;              /* of the first row */
	uint64_t carried;                /* rows carried out since the store was opened */
	struct backlog_waits {
		bool unpaid;             /* rows wait for throughput: there was too little when they were last to be paid */
		bool in_line;            /* rows wait that hold up all that come; else it is only partitions that lack throughput */
	} waits;
};

enum { BACKLOG_SLICES = 256, BACKLOG_KINDS = 1024 };
struct backlog {
	struct backlog_state now;        /* with what is not published yet; the writer's */
	uint64_t owed[BACKLOG_SLICES];   /* what rows cost, half units, by the first byte of the hash; the same */
	uint32_t without[BACKLOG_KINDS]; /* rows that leave their item without an entry, by its hash; the same */
	_Atomic uint64_t first, next, rows, oldest_ms, carried; /* as published; stored by the writer */
	_Atomic uint64_t filled;         /* items that the backfill has looked at; stored by the writer */
	unsigned refs;                   /* the writer's */
};

/* With one reference; NULL if out of memory. */
struct backlog *backlog_new(void);
struct backlog *backlog_ref(struct backlog *b);
/* NULL is fine. */
void backlog_unref(struct backlog **b);

static inline bool backlog_empty(const struct backlog *b)
{
	return b->now.first == b->now.next;
}

/* What the rows cost a partition of the index that has these hashes, in half units; with what they cost others beside it that
 * begin with the same byte. */
uint64_t backlog_owed(const struct backlog *b, uint64_t first_hash, uint64_t last_hash);

/* Are there rows that leave the item with this key without an entry, or another of its kind? */
bool backlog_leaves_without(const struct backlog *b, struct slice item_key);

/* Put a row behind the others: a change of the item with this key, and what it waits for. */
void backlog_append(struct write_txn *t, const struct table_index *x, struct slice item_key, const struct index_move *m,
	struct backlog_waits waits);
/* These n rows have been carried out; `first` is the first that is left, or what comes next. waits: those that are left. */
enum err backlog_remove(struct write_txn *t, const struct table_index *x, const struct backlog_row *row, unsigned n,
	uint64_t first, struct backlog_waits waits, struct fault *f) __attribute__((warn_unused_result));
/* The index goes. */
void backlog_drop(struct write_txn *t, const struct table_index *x);

/* ---- a batch ---- */

/* A backlog, how it was before a row came or went, and what it owes more since, of which hashes; and of which item there is a row
 * more that leaves it without an entry. */
struct backlog_mark {
	struct backlog *backlog;
	struct backlog_state before;
	struct { uint64_t hash, halves; } owes[2];
	uint64_t item;
	uint32_t without;
};
/* Undo the changes of the batch's backlogs but the first `keep`. */
void backlog_undo(struct write_batch *b, size_t keep);
/* The batch is visible: so is what it did to backlogs. True if there are rows that nobody may be looking at: where there had
 * been none, or others wait for throughput. */
bool backlog_publish(struct write_batch *b);

/* ---- other threads ---- */

/* What is published of it; cost: 0. */
struct backlog_state backlog_look(const struct backlog *b);

/* The rows of an index from `number` on, in one view, copied to the arena: up to max, or about bytes_max bytes. `after` is the
 * number of the row behind them, or UINT64_MAX if there is none in the view. */
enum err backlog_read(struct store *s, uint32_t index, uint64_t number, struct arena *a, struct backlog_row *row, unsigned max,
	size_t bytes_max, unsigned *n, uint64_t *after, struct fault *f) __attribute__((warn_unused_result));
/* Find the backlogs of all indexes again, before the writer starts. */
enum err backlogs_recover(struct store *s, struct fault *f) __attribute__((warn_unused_result));

#endif
