/* write_plan - what a write will do: made by a worker, carried out by the writer.
 *
 *    worker:  prepare (of its operation): checks, expressions bound, key bytes --> plan
 *    writer:  plan->apply: reads the newest items, decides, changes them in one write_txn, writes the answer
 *
 * W1. A plan holds no pointer into the catalog: between the two the table may change or go. It names the table by its
 *     id, and the writer looks it up again.
 * W2. apply() either leaves a committed transaction (or needed none) and a complete answer, or returns an error and
 *     leaves nothing.
 *
 * Threads: a plan goes from worker to writer with its request. Ownership: it lives in the request's arena, but for its
 * references to parsed expressions, which write_plan_release gives back. */
#ifndef DYNAX_STORE_WRITE_PLAN_H
#define DYNAX_STORE_WRITE_PLAN_H

#include "protocol/capacity.h"
#include "store/store_int.h"

struct write_batch;
struct write_txn;

enum item_op_kind { ITEM_PUT, ITEM_DELETE, ITEM_UPDATE, ITEM_CHECK };
enum returning { RETURN_NONE, RETURN_ALL_OLD, RETURN_UPDATED_OLD, RETURN_ALL_NEW, RETURN_UPDATED_NEW };

/* One action on one item. */
struct item_op {
	enum item_op_kind kind;
	uint32_t table;                 /* its id */
	uint64_t hash;                  /* of the partition key */
	struct slice key;               /* the Key, a canonical map */
	struct slice ekey;              /* the engine's key of the item */
	struct slice item;              /* of ITEM_PUT */
	struct condition *condition;    /* or NULL */
	struct update *update;          /* of ITEM_UPDATE; NULL changes nothing but makes the item exist */
	bool old_on_failure;            /* ReturnValuesOnConditionCheckFailure = ALL_OLD */
	bool expired;                   /* by time to live, not by a user: streams tell */
	bool insert;                    /* of ITEM_PUT: a failed condition is a duplicate */
	bool refused;                   /* of a batch: left undone for want of throughput */
	/* Filled by the writer: images (absent = none), and what it cost. */
	struct slice old, new;
	struct consumed cost;
};

struct expr_hold {
	struct expr *expr;
	struct expr_hold *next;
};

struct write_plan {
	enum err (*apply)(struct write_batch *b, struct store_write *w);
	struct item_op *op;
	unsigned ops;
	enum returning returning;
	enum report report;
	bool metrics;                   /* ReturnItemCollectionMetrics = SIZE */
	void *control;                  /* of control operations: their own */
	struct expr_hold *exprs;        /* what the bound conditions and updates rest on */
	size_t out_start;               /* length of the answer buffer before our answer */
};

/* An operation's worker half: fills w->plan. One for each operation that changes something; in its own file. */
typedef enum err write_prepare(struct store_reader *r, struct store_write *w);
write_prepare put_item_prepare, delete_item_prepare, update_item_prepare, batch_write_prepare, transact_write_prepare;
write_prepare create_table_prepare, delete_table_prepare, update_table_prepare;
write_prepare update_ttl_prepare, tag_resource_prepare, untag_resource_prepare;
write_prepare register_target_prepare, deregister_target_prepare, put_policy_prepare, delete_policy_prepare;

void write_plan_release(struct write_plan *p);

/* ---- for the prepare functions ---- */

/* Room for n operations, zeroed. */
enum err write_plan_ops(struct store_write *w, unsigned n) __attribute__((warn_unused_result));

/* The parameters of a conditional write, wherever its record has them; PARAMS_END = it has no such member. */
struct op_params {
	uint32_t condition, names, values, expected, conditional_operator;
	uint32_t update, attribute_updates;
};
/* Parse and bind the condition, and the update, of one operation. */
enum err write_bind(struct store_reader *r, struct store_write *w, const struct record *in, const struct op_params *p,
	struct item_op *op, struct fault *f) __attribute__((warn_unused_result));
/* Key, hash, engine key and table of an operation whose key or item has been checked. */
enum err write_address(struct store_write *w, const struct table *t, struct slice key_or_item, uint64_t hash,
	struct item_op *op, struct fault *f) __attribute__((warn_unused_result));

/* ---- for the apply functions ---- */

/* write_txn_end of a transaction with an answer, which must have been written whole. */
enum err write_end(struct write_txn *t, struct store_write *w, enum err rc) __attribute__((warn_unused_result));

#endif
