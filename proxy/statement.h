/* statement - one PartiQL statement, carried out by way of the requests it stands for.
 *
 *    SELECT --GetItem, Query, Scan, one after the other--> rows
 *    INSERT, UPDATE, DELETE --PutItem, UpdateItem, DeleteItem--> the row that RETURNING asks for
 *
 * The records of these requests hold the statement and its parameters where expressions and values stand, so that the query
 * cache and transaction tokens tell them apart; what they mean is bound (expr.h, struct bound).
 *
 * Threads: on the call's worker. Ownership: all in the arena of the call. */
#ifndef DYNAX_PROXY_STATEMENT_H
#define DYNAX_PROXY_STATEMENT_H

#include "protocol/capacity.h"
#include "protocol/partiql.h"
#include "proxy/child.h"
#include "store/table.h"

struct statement_read_state;

struct statement_run {
	/* set by the maker */
	struct call *call;
	struct slice text, parameters;
	bool consistent, old_on_failure, one_item;    /* one_item: a SELECT must name one item by its key */
	struct slice capacity;                        /* of ReturnConsumedCapacity, or absent */
	uint32_t limit;                               /* UINT32_MAX = none */
	struct slice token;                           /* NextToken, or absent */
	void (*done)(struct statement_run *r);
	void *arg;

	/* the outcome */
	struct fault fault;
	bool ran;                                     /* it came as far as its table */
	struct slice table;                           /* its name */
	struct slice rows;                            /* encoded items, one behind the other */
	uint32_t count;
	struct slice consumed;                        /* a ConsumedCapacity record, or absent */
	struct slice next_token, last_key;
	enum frame_cache cache;

	/* its own */
	struct statement *statement;
	const struct table_index *index;
	const struct key_schema *key;                 /* of what is read; good while the table is */
	struct bound bound;
	struct child child;
	struct statement_read_state *reads;
};

/* Parse, and find out what kind it is; false and r->fault if it cannot be. */
bool statement_open(struct statement_run *r);
/* Carry it out; done is called, perhaps before this returns. After statement_open. */
void statement_run(struct statement_run *r);

/* ---- statement_read.c ---- */
void statement_select(struct statement_run *r, const struct table *t);

/* ---- for those who make records ---- */

/* ExpressionAttributeValues that hold the parameters; absent if there are none. False: out of memory. */
bool statement_values(const struct statement *s, struct slice *out) __attribute__((warn_unused_result));
/* A finished record, in the arena; absent if memory is out. */
struct slice statement_record(struct call *c, struct buf *b);

#endif
