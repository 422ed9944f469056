/* table - a table as the catalog describes it at one moment. Immutable.
 *
 * Readers get one from store_table and may use it until their next store_reader_quiesce. */
#ifndef DYNAX_STORE_TABLE_H
#define DYNAX_STORE_TABLE_H

#include "protocol/expr.h"
#include "store/backlog.h"
#include "store/meter.h"

struct heat;

enum { TABLE_GSI_MAX = 20, TABLE_LSI_MAX = 5 };
enum index_projection { INDEX_KEYS_ONLY, INDEX_INCLUDE, INDEX_ALL };

/* A range of the hash of partition keys (partition.h). */
struct partition {
	uint32_t id;                      /* of its counters; shared with table ids */
	uint64_t from;                    /* first hash */
	bool uncounted;
};
struct partitions {
	const struct partition *part;
	struct heat **heat;               /* of each (heat.h); NULL of a local index, which is its table's */
	unsigned n;
};

struct table_index {
	uint32_t id;                      /* never used twice, shared with table ids */
	struct slice name;
	bool global;
	struct key_schema key;
	enum index_projection projection;
	struct slice *include;            /* INDEX_INCLUDE: attributes beside the keys */
	unsigned includes;
	bool readable;                    /* false while it is being built */
	struct throughput limit;          /* of a global index (throughput.h) */
	struct meter *meter;              /* of a global index; NULL of a local one */
	struct backlog *backlog;          /* the same (backlog.h) */
	struct partitions parts;          /* a local index always has one */
};

struct table {
	uint32_t id;                      /* never used twice: a table created again is another one */
	struct slice name;
	struct key_schema key;
	const struct table_index *index;  /* global ones, then local ones */
	unsigned gsis, lsis;
	bool on_demand;
	struct partitions parts;
	struct throughput limit;          /* throughput.h */
	struct meter *meter;
};

/* Do the entries of an index hold this attribute? */
static inline bool table_index_holds(const struct table *t, const struct table_index *x, struct slice name)
{
	if (x->projection == INDEX_ALL || key_schema_has(&x->key, name) || key_schema_has(&t->key, name))
		return true;
	for (unsigned i = 0; i < x->includes; i++)
		if (slice_eq(x->include[i], name))
			return true;
	return false;
}

#endif
