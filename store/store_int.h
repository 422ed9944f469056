/* store_int - what the store's own files share: the store, a reader, and how they reach engine, view and catalog.
 *
 * Key space of the engine (keycode.h makes the bytes; all numbers big-endian):
 *
 *    0, 'i'                       next free id of a table or index           (catalog.c)
 *    0, 't', table id             a table: what CreateTable asked for, and more
 *    0, 'c', table or index id    its counters: entries and bytes
 *    0, 'l', table id, hash, key  size of an item collection               (collection.h)
 *    0, 'x', client token         a transaction done, for its ten minutes    (token.c)
 *    0, 'y', time, token          the same, by the time it ends
 *    0, 's', label, 0, table      a stream                               (streams.h)
 *    0, 'g', index id, number     a change that an index has not been told (backlog.h)
 *    table id, hash, keys...      items;  index id, hash, keys..., base keys...  index entries
 *    shard id, position           records of a stream
 *    expiry index id, second, item's key                                 (ttl.h)
 *
 * Not for callers of the store: they include store.h. */
#ifndef DYNAX_STORE_STORE_INT_H
#define DYNAX_STORE_STORE_INT_H

#include <stdatomic.h>

#include "protocol/expr.h"
#include "store/catalog.h"
#include "store/clock.h"
#include "store/store.h"

struct writer;
struct backfill;
struct propagation;
struct keeper;

struct store {
	struct engine *engine;
	struct store_observer observer;
	char *region, *account;
	struct catalog_store catalog;     /* published snapshots and those who read them */
	struct writer *writer;
	struct backfill *backfill;
	struct propagation *propagation;
	_Atomic uint32_t index_delay_ms;  /* propagation.h */
	struct keeper *keeper;
	struct clock clock;               /* all of the store's time */
	enum capacity_mode capacity;
	pthread_mutex_t minutes_lock;     /* of what all meters remember of the last minutes (minutes.h) */
	uint64_t partition_bytes;
	uint32_t partition_rate[METER_USES]; /* half units a second that one gives (throughput.h) */
	uint64_t collection_bytes;
	uint64_t table_delay_ms;
	uint64_t stream_position;         /* the writer's: the last one given to a record (streams.h) */
	uint64_t tokens_purged_ms;        /* the writer's: when old tokens were last cleared away (token.c) */
};

/* Belongs to one thread. */
struct store_reader {
	struct store *store;
	struct expr_cache *exprs;         /* expressions parsed lately */
	struct view *view;                /* between the first read and store_reader_release; or NULL */
	const struct catalog *of_view;    /* the catalog while there is a view: not newer than it; or NULL */
	struct catalog_reader catalog;
	struct buf key;                   /* of store_get; and for whoever needs key bytes for a moment */
};

/* The reader's view: opened at need, the same until store_reader_release. */
enum err reader_view(struct store_reader *r, struct view **v, struct fault *f) __attribute__((warn_unused_result));
/* The newest catalog that is not newer than the reader's view: an index that it calls readable is whole in the view.
 * It and its tables may be used until the next store_reader_quiesce. Never NULL. */
const struct catalog *reader_catalog(struct store_reader *r);
/* store_table, or ResourceNotFoundException. */
enum err reader_table(struct store_reader *r, struct slice name, const struct table **t, struct fault *f)
	__attribute__((warn_unused_result));
/* A table with all that is known of it, by name or ARN; or NULL. */
const struct catalog_table *reader_catalog_table(struct store_reader *r, struct slice name);

/* The store's clock, in Unix milliseconds. */
uint64_t store_now_ms(const struct store *s);

/* Entries and bytes of a table or index, at one moment. */
struct counters {
	uint64_t entries, bytes;
};

#endif
