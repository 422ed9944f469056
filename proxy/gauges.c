/* gauges - see gauges.h. One function for each part of the daemon; units are counted in halves, and written as decimals. */
#include "proxy/gauges.h"

#include <inttypes.h>

#include "proxy/process.h"

static void put(struct buf *out, const char *name, const char *type, const char *help, uint64_t v)
{
	buf_printf(out, "# HELP %s %s\n# TYPE %s %s\n%s %" PRIu64 "\n", name, help, name, type, name, v);
}

static void put_seconds(struct buf *out, const char *name, const char *help, uint64_t ns)
{
	buf_printf(out, "# HELP %s %s\n# TYPE %s counter\n%s %.9f\n", name, help, name, name, (double)ns * 1e-9);
}

static void items(struct buf *out, const struct item_cache *c)
{
	struct item_cache_stats s;

	item_cache_stats(c, &s);
	put(out, "dynax_item_cache_hits_total", "counter", "items served from the cache", s.hits);
	put(out, "dynax_item_cache_misses_total", "counter", "items that were not in the cache", s.misses);
	put(out, "dynax_item_cache_negative_hits_total", "counter", "absent items served from the cache", s.negative_hits);
	put(out, "dynax_item_cache_fills_total", "counter", "items taken in", s.fills);
	put(out, "dynax_item_cache_fills_refused_total", "counter", "items not taken in, because a write came in between",
		s.fills_refused);
	put(out, "dynax_item_cache_evictions_total", "counter", "items evicted to make room", s.evictions);
	put(out, "dynax_item_cache_expirations_total", "counter", "items whose time to live has passed", s.expirations);
	put(out, "dynax_item_cache_invalidations_total", "counter", "items replaced or dropped by writes", s.invalidations);
	put(out, "dynax_item_cache_bytes", "gauge", "bytes in use", s.bytes);
	put(out, "dynax_item_cache_entries", "gauge", "entries", s.entries);
	put(out, "dynax_item_cache_negative_entries", "gauge", "entries for absent items", s.negative_entries);
}

static void queries(struct buf *out, const struct query_cache *c)
{
	struct query_cache_stats s;

	query_cache_stats(c, &s);
	put(out, "dynax_query_cache_hits_total", "counter", "answers served from the cache", s.hits);
	put(out, "dynax_query_cache_misses_total", "counter", "answers that were not in the cache", s.misses);
	put(out, "dynax_query_cache_fills_total", "counter", "answers taken in", s.fills);
	put(out, "dynax_query_cache_fills_refused_total", "counter", "answers not taken in, because a write came in between",
		s.fills_refused);
	put(out, "dynax_query_cache_evictions_total", "counter", "answers evicted to make room", s.evictions);
	put(out, "dynax_query_cache_expirations_total", "counter", "answers whose time to live has passed", s.expirations);
	put(out, "dynax_query_cache_stale_drops_total", "counter", "answers dropped because their partition has changed",
		s.stale_drops);
	put(out, "dynax_query_cache_bytes", "gauge", "bytes in use", s.bytes);
	put(out, "dynax_query_cache_entries", "gauge", "entries", s.entries);
}

static void store(struct buf *out, struct backend *b)
{
	struct store_stats s;

	b->ops->stats(b, &s);
	put(out, "dynax_store_writes_total", "counter", "writes that came to the writer, refused ones too", s.writes);
	put(out, "dynax_store_batches_total", "counter", "batches in which it took them", s.batches);
	put(out, "dynax_store_batch_writes_max", "gauge", "largest batch", s.batch_writes_max);
	put_seconds(out, "dynax_store_batch_seconds_total", "time from a batch's first write to its answers", s.batch_ns_total);
	put(out, "dynax_store_tables", "gauge", "tables", s.tables);
	put(out, "dynax_engine_lsn_published", "gauge", "newest visible log sequence number", s.engine.lsn_published);
	put(out, "dynax_engine_lsn_checkpointed", "gauge", "newest log sequence number in LMDB", s.engine.lsn_checkpointed);
	put(out, "dynax_engine_overlay_bytes", "gauge", "recent writes held in memory", s.engine.overlay_bytes);
	put(out, "dynax_engine_log_bytes", "gauge", "bytes of log segments", s.engine.log_bytes);
	put(out, "dynax_engine_log_segments", "gauge", "log segments", s.engine.log_segments);
	put(out, "dynax_engine_map_bytes", "gauge", "size of LMDB's map", s.engine.map_bytes);
	put(out, "dynax_engine_map_used_bytes", "gauge", "bytes of LMDB's pages in use", s.engine.map_used_bytes);
	put(out, "dynax_engine_map_free_bytes", "gauge", "bytes of LMDB's free pages", s.engine.map_free_bytes);
	put(out, "dynax_engine_transactions_total", "counter", "transactions committed", s.engine.transactions);
	put(out, "dynax_engine_flushes_total", "counter", "log syncs", s.engine.batches);
	put_seconds(out, "dynax_engine_flush_seconds_total", "time in log syncs", s.engine.flush_ns_total);
	put(out, "dynax_engine_checkpoints_total", "counter", "checkpoints", s.engine.checkpoint_count);
	put_seconds(out, "dynax_engine_checkpoint_seconds_total", "time in checkpoints", s.engine.checkpoint_ns_total);
	put_seconds(out, "dynax_engine_writer_stall_seconds_total", "time that the writer waited for a checkpoint",
		s.engine.writer_stall_ns_total);
	put(out, "dynax_engine_dropping", "gauge", "1 while space of dropped tables and old stream records is being freed",
		s.engine.dropping);
	put(out, "dynax_engine_readers", "gauge", "snapshots open", s.engine.readers);
}

/* ---- units, by table and global index ---- */

struct units {
	struct buf *out;
	const char *name;
	bool refused;                /* operations refused; otherwise units used */
};

static const char *const use_name[] = { [METER_READ] = "read", [METER_WRITE] = "write" };

static void put_halves(struct buf *out, uint64_t halves)
{
	buf_printf(out, " %" PRIu64 "%s\n", halves / CAPACITY_HALVES, halves % CAPACITY_HALVES != 0 ? ".5" : "");
}

static void put_meter(void *arg, struct slice table, struct slice index, const struct meter_totals *m)
{
	const struct units *u = arg;

	for (unsigned use = 0; use < METER_USES; use++) {
		uint64_t v = u->refused ? m->refused[use] : m->used[use];

		if (v == 0)
			continue;
		buf_printf(u->out, "%s{table=\"%.*s\",index=\"%.*s\",use=\"%s\"}", u->name, SLICE_FMT(table), SLICE_FMT(index),
			use_name[use]);
		put_halves(u->out, u->refused ? v * CAPACITY_HALVES : v);
	}
}

static void put_saved(void *arg, struct slice table, struct slice index, const struct meter_totals *m)
{
	const struct units *u = arg;

	if (m->saved == 0)
		return;
	buf_printf(u->out, "%s{table=\"%.*s\",index=\"%.*s\"}", u->name, SLICE_FMT(table), SLICE_FMT(index));
	put_halves(u->out, m->saved);
}

static void put_refused_by_partition(void *arg, struct slice table, struct slice index, const struct meter_totals *m)
{
	const struct units *u = arg;

	for (unsigned use = 0; use < METER_USES; use++)
		if (m->refused_by_partition[use] != 0)
			buf_printf(u->out, "%s{table=\"%.*s\",index=\"%.*s\",use=\"%s\"} %" PRIu64 "\n", u->name, SLICE_FMT(table),
				SLICE_FMT(index), use_name[use], m->refused_by_partition[use]);
}

static void put_cuts(void *arg, struct slice table, struct slice index, const struct meter_totals *m)
{
	static const char *const reason[] = { [CUT_SIZE] = "size", [CUT_HEAT] = "heat", [CUT_THROUGHPUT] = "throughput" };
	const struct units *u = arg;

	for (unsigned why = 0; why < CUTS; why++)
		if (m->cuts[why] != 0)
			buf_printf(u->out, "%s{table=\"%.*s\",index=\"%.*s\",reason=\"%s\"} %" PRIu64 "\n", u->name, SLICE_FMT(table),
				SLICE_FMT(index), reason[why], m->cuts[why]);
}

static void put_limit(void *arg, struct slice table, struct slice index, const struct meter_totals *m)
{
	const struct units *u = arg;

	for (unsigned use = 0; use < METER_USES; use++) {
		if (m->limit[use] == 0)
			continue;
		buf_printf(u->out, "%s{table=\"%.*s\",index=\"%.*s\",use=\"%s\"}", u->name, SLICE_FMT(table), SLICE_FMT(index),
			use_name[use]);
		put_halves(u->out, m->limit[use]);
	}
}

static void put_partitions(void *arg, struct slice table, struct slice index, const struct meter_totals *m)
{
	const struct units *u = arg;

	buf_printf(u->out, "%s{table=\"%.*s\",index=\"%.*s\"} %u\n", u->name, SLICE_FMT(table), SLICE_FMT(index), m->partitions);
}

static void put_meters(struct buf *out, struct backend *b, const char *name, const char *type, const char *help,
	store_meter_fn *fn, bool refused)
{
	struct units u = { out, name, refused };

	buf_printf(out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
	b->ops->meters(b, fn, &u);
}

static void meters(struct buf *out, struct backend *b)
{
	put_meters(out, b, "dynax_consumed_units_total", "counter", "units that tables and global indexes have consumed",
		put_meter, false);
	put_meters(out, b, "dynax_saved_read_units_total", "counter", "units of reads that the caches have answered",
		put_saved, false);
	put_meters(out, b, "dynax_throttled_total", "counter", "operations throttled", put_meter, true);
	put_meters(out, b, "dynax_throughput_units", "gauge", "units a second that tables and global indexes may use",
		put_limit, false);
	put_meters(out, b, "dynax_partitions", "gauge", "partitions of tables and global indexes", put_partitions, false);
	put_meters(out, b, "dynax_partition_throttled_total", "counter", "operations throttled because of one partition's limit",
		put_refused_by_partition, false);
	put_meters(out, b, "dynax_partition_cuts_total", "counter", "partitions split in two, by reason", put_cuts, false);
}

/* ---- global indexes ---- */

struct index_gauge {
	const char *name, *type, *help;
	void (*put)(struct buf *out, const struct store_index_state *x);
	bool building;               /* of those that are being built alone */
};

struct index_lines {
	struct buf *out;
	const struct index_gauge *gauge;
};

static void put_index_lag(struct buf *out, const struct store_index_state *x)
{
	buf_printf(out, "%" PRIu64 ".%03u", x->lag_ms / 1000, (unsigned)(x->lag_ms % 1000));
}

static void put_index_backlog(struct buf *out, const struct store_index_state *x)
{
	buf_printf(out, "%" PRIu64, x->backlog);
}

static void put_index_carried(struct buf *out, const struct store_index_state *x)
{
	buf_printf(out, "%" PRIu64, x->carried);
}

static void put_index_progress(struct buf *out, const struct store_index_state *x)
{
	buf_printf(out, "%.3f", x->filled < x->items ? (double)x->filled / (double)x->items : 1.0);
}

static void put_index(void *arg, const struct store_index_state *x)
{
	const struct index_lines *l = arg;

	if (l->gauge->building && !x->building)
		return;
	buf_printf(l->out, "%s{table=\"%.*s\",index=\"%.*s\"} ", l->gauge->name, SLICE_FMT(x->table), SLICE_FMT(x->index));
	l->gauge->put(l->out, x);
	buf_printf(l->out, "\n");
}

static void indexes(struct buf *out, struct backend *b)
{
	static const struct index_gauge gauge[] = {
		{ "dynax_index_lag_seconds", "gauge", "age of the oldest change that an index lacks", put_index_lag, false },
		{ "dynax_index_backlog", "gauge", "changes that an index lacks", put_index_backlog, false },
		{ "dynax_index_propagated_total", "counter", "changes that reached an index late", put_index_carried, false },
		{ "dynax_index_backfill_ratio", "gauge", "how much of a new index is built, of 1", put_index_progress, true },
	};

	for (unsigned i = 0; i < sizeof(gauge) / sizeof(gauge[0]); i++) {
		struct index_lines l = { out, &gauge[i] };

		buf_printf(out, "# HELP %s %s\n# TYPE %s %s\n", gauge[i].name, gauge[i].help, gauge[i].name, gauge[i].type);
		b->ops->indexes(b, put_index, &l);
	}
}

static void process(struct buf *out, const struct server_gauges *g)
{
	buf_printf(out, "# HELP dynax_build_info 1; its label is the version\n# TYPE dynax_build_info gauge\n"
		"dynax_build_info{version=\"%s\"} 1\n", DYNAX_VERSION);
	put(out, "process_start_time_seconds", "gauge", "when the process began, in seconds since 1970", (uint64_t)g->started_s);
	put_seconds(out, "process_cpu_seconds_total", "processor time of all threads", process_cpu_ns());
	put(out, "process_resident_memory_bytes", "gauge", "memory in RAM", process_resident_bytes());
	put(out, "process_open_fds", "gauge", "files and sockets open", process_open_files());
	put(out, "process_max_fds", "gauge", "files and sockets that may be open", g->descriptors);
}

void gauges_write(struct buf *out, const struct shared *s, const struct server_gauges *g)
{
	uint64_t flying, joined;

	if (s->items != NULL)
		items(out, s->items);
	if (s->queries != NULL)
		queries(out, s->queries);
	flights_stats(s->flights, &flying, &joined);
	put(out, "dynax_flights", "gauge", "reads of the store that other requests may share", flying);
	put(out, "dynax_flights_joined_total", "counter", "requests that shared another one's read", joined);
	store(out, s->backend);
	meters(out, s->backend);
	indexes(out, s->backend);
	put(out, "dynax_accept_pauses_total", "counter", "times that accepting paused: too many connections or descriptors",
		g->accept_pauses);
	put(out, "dynax_connections_max", "gauge", "most connections at a time", g->max_connections);
	process(out, g);
}
