/* catalog - all tables as they stand at one moment: an immutable snapshot, replaced as a whole.
 *
 *    writer:  catalog_with / catalog_without --> next snapshot --catalog_publish--> current
 *                                                      the one before --> retired, freed when nobody can hold it
 *    worker:  catalog_current (marks itself online)  ...  catalog_quiesce (offline)
 *
 * Reclamation is by epochs, and the epoch is the snapshot's own version:
 *
 * C1. A reader's `since` is the version that was current when it went online, or OFFLINE. It can hold snapshots of
 *     that version or newer ones only.
 * C2. A retired snapshot is freed when every reader's `since` is OFFLINE or greater than its version.
 * C3. Going online is a sequentially consistent store followed by the load of the snapshot; publishing is a store of
 *     the snapshot followed by loads of every `since`. So either the writer sees the reader, or the reader the new one.
 *
 * Threads: catalog_publish and what makes snapshots, the writer only (and store_open, before there are others);
 * a catalog_reader belongs to one thread; joining and leaving take a lock. */
#ifndef DYNAX_STORE_CATALOG_H
#define DYNAX_STORE_CATALOG_H

#include <pthread.h>
#include <stdatomic.h>

#include "protocol/shape.h"
#include "store/engine/engine.h"
#include "store/table.h"

/* What a record of a stream tells beside the key; its bits are the images. */
enum stream_view { STREAM_KEYS_ONLY = 0, STREAM_NEW_IMAGE = 1, STREAM_OLD_IMAGE = 2, STREAM_NEW_AND_OLD_IMAGES = 3 };

/* An open shard of a table's stream: it takes the partition keys with hashes from `from` up to the next one's. */
struct stream_shard {
	uint32_t id;                     /* shared with table ids */
	uint64_t from;
};

/* When the provisioned throughput of a table or global index was changed (decreases.h). */
struct throughput_past {
	uint32_t id;
	unsigned decreases;              /* in the UTC day of the last one */
	uint64_t decreased_ms, increased_ms; /* last; 0 = never */
};

/* A partition of a table or index that was cut (partition.h); rows of an owner ascend. */
struct partition_row {
	uint32_t owner;
	struct partition part;
};

/* How the reads or writes of a table or global index are scaled (autoscale.h). */
struct autoscale_row {
	uint32_t owner;
	unsigned use;                    /* enum meter_use */
	int64_t min, max;                /* units a second */
	uint32_t target;                 /* percent; 0 = it has a range, but no policy */
	uint32_t in_cooldown_s, out_cooldown_s;
	uint64_t in_ms, out_ms;          /* last scaled in and out; 0 = never */
	bool out_only;                   /* never scaled in */
	uint64_t created_ms;
	struct slice policy;             /* its name; absent without a policy */
};

/* Switches to on-demand billing that are remembered (switches.h). */
enum { SWITCHES_KEPT = 4 };

/* What a table is while it changes (table_state.h); TABLE_GONE is never stored. */
enum table_status { TABLE_ACTIVE, TABLE_CREATING, TABLE_UPDATING, TABLE_DELETING, TABLE_GONE };
struct table_state {
	enum table_status status;
	uint64_t until_ms;               /* of the store's clock; 0 = it is over */
	uint32_t index;                  /* TABLE_UPDATING: id of the index that is being added; 0 = none */
};

/* What the store knows of a table beside what was asked for. */
struct catalog_facts {
	struct slice uuid;
	uint64_t created_ms;
	uint64_t on_demand_since_ms;     /* last change to PAY_PER_REQUEST; 0 = never */
	struct slice stream_label;       /* of its latest stream; absent = never had one */
	struct slice ttl_attribute;      /* absent = no time to live */
	const struct stream_shard *shard;/* by hash, the first from 0 */
	unsigned shards;                 /* 0 = it has no stream now */
	uint32_t ttl_id;                 /* of its expiry index (ttl.h); 0 = none */
	bool ttl_filling;                /* which does not have all items yet */
	const struct throughput_past *past;/* of the table and its indexes, in no order; without those never changed */
	unsigned pasts;
	uint64_t switched_ms[SWITCHES_KEPT]; /* the oldest first; 0 = none */
	const struct autoscale_row *scale;/* in no order */
	unsigned scaled;
	const struct partition_row *row; /* of what has more than one partition */
	unsigned rows;
	struct table_state state;
};

/* A table with all that DescribeTable tells. Counted by the writer alone: one reference for each snapshot it is in. */
struct catalog_table {
	struct table table;              /* first: a const struct table * of the catalog is one of these */
	struct table_index *index;       /* table.index, while it is made */
	unsigned refs;
	struct arena arena;              /* everything below lives here */
	struct slice bytes;              /* as the engine keeps it */
	struct record spec;              /* a CreateTableInput: what was asked for, as changed since */
	struct catalog_facts facts;
	bool streams;                    /* its changes are recorded */
	enum stream_view view;           /* of its stream */
	bool building;                   /* an index of it is not filled yet */
};

struct catalog {
	uint64_t version;
	size_t n;
	struct catalog_table **by_name;  /* n, sorted by name */
	struct catalog_table **by_id;    /* n, sorted by table id */
	struct catalog_table **slot;     /* open addressing by hash of the name; slots is a power of two */
	size_t slots;
	struct catalog *next;            /* among the retired */
};

struct catalog_reader {
	_Atomic uint64_t since;          /* C1 */
	struct catalog_reader *next;
};
#define CATALOG_OFFLINE UINT64_MAX

struct catalog_store {
	_Atomic(struct catalog *) current;
	_Atomic uint64_t version;        /* of current */
	struct catalog *retired;         /* writer only */
	pthread_mutex_t lock;            /* of the list of readers */
	struct catalog_reader *readers;
};

/* Load every table of the engine. */
enum err catalog_open(struct catalog_store *cs, struct engine *e, struct fault *f) __attribute__((warn_unused_result));
/* No reader is left. */
void catalog_close(struct catalog_store *cs);

void catalog_join(struct catalog_store *cs, struct catalog_reader *r);
void catalog_leave(struct catalog_store *cs, struct catalog_reader *r);
const struct catalog *catalog_current(struct catalog_store *cs, struct catalog_reader *r);
void catalog_quiesce(struct catalog_reader *r);

/* NULL if there is none. */
const struct catalog_table *catalog_find(const struct catalog *c, struct slice name);
const struct catalog_table *catalog_find_id(const struct catalog *c, uint32_t id);
/* A global index by id; NULL if there is none. t: may be NULL, too. */
const struct table_index *catalog_find_index(const struct table *t, uint32_t id);
/* Place in by_name of the first table after `name`, which need not exist. */
size_t catalog_after(const struct catalog *c, struct slice name);

/* ---- the writer ---- */

/* A snapshot with `t` in the place of the table of its name, or added; without the table of that name. The base stays
 * as it is. t's reference passes to the new snapshot. NULL if out of memory (t is then unreferenced). */
struct catalog *catalog_with(const struct catalog *base, struct catalog_table *t);
struct catalog *catalog_without(const struct catalog *base, struct slice name);
/* Make it the current one; frees what nobody holds any more. */
void catalog_publish(struct catalog_store *cs, struct catalog *next);
/* One that was never published. */
void catalog_discard(struct catalog **c);

/* Take the engine's bytes apart; *t has one reference. ERR_CORRUPT if they are damaged. */
enum err catalog_table_decode(struct slice bytes, struct catalog_table **t, struct fault *f) __attribute__((warn_unused_result));
void catalog_table_unref(struct catalog_table **t);
/* What a table is made from; encodes into out as the engine keeps it. */
struct catalog_draft {
	uint32_t id;
	uint32_t *index_id;              /* global ones, then local ones, as in spec */
	bool *building;                  /* which of them are not filled yet; NULL = none */
	unsigned indexes;
	struct catalog_facts facts;
	struct slice spec;               /* CreateTableInput */
};
void catalog_draft_put(struct buf *out, const struct catalog_draft *d);
/* The view type that a CreateTableInput asks for. */
enum stream_view stream_view_of(const struct record *spec);
const char *stream_view_name(enum stream_view v);

/* Keys of the engine's table 0. */
enum { CATALOG_KEY_BYTES = 9 };
struct slice catalog_key(char kind, uint32_t id, uint8_t out[CATALOG_KEY_BYTES]);

#endif
