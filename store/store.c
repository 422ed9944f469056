/* store - see store.h. Opening and closing, readers, tables by name, items by key. */
#include "store/store.h"

#include <stdlib.h>

#include "protocol/messages.h"
#include "store/minutely.h"
#include "store/backfill.h"
#include "store/collection.h"
#include "store/control.h"
#include "store/keeper.h"
#include "store/keycode.h"
#include "store/partition.h"
#include "store/propagation.h"
#include "store/store_int.h"
#include "store/streams.h"
#include "store/table_state.h"
#include "store/throughput.h"
#include "store/writer.h"

enum { EXPRS_CACHED = 512 };

/* ---- open and close ---- */

enum err store_open(const struct store_opts *o, struct store **out, struct fault *f)
{
	struct store *s = calloc(1, sizeof *s);
	enum err rc;

	if (s == NULL)
		return fault_set(f, MSG_NO_MEMORY);
	s->observer = o->observer;
	clock_init(&s->clock, o->still_clock);
	pthread_mutex_init(&s->minutes_lock, NULL);
	s->capacity = o->capacity;
	atomic_init(&s->index_delay_ms, o->index_delay_ms);
	s->partition_bytes = o->partition_bytes != 0 ? o->partition_bytes : PARTITION_BYTES;
	s->collection_bytes = o->collection_bytes != 0 ? o->collection_bytes : COLLECTION_BYTES;
	s->table_delay_ms = o->table_delay_ms;
	s->partition_rate[METER_READ] = (o->partition_rcu != 0 ? o->partition_rcu : PARTITION_RCU) * CAPACITY_HALVES;
	s->partition_rate[METER_WRITE] = (o->partition_wcu != 0 ? o->partition_wcu : PARTITION_WCU) * CAPACITY_HALVES;
	s->region = strdup(o->region != NULL ? o->region : "ddblocal");
	s->account = strdup(o->account != NULL ? o->account : "000000000000");
	rc = s->region != NULL && s->account != NULL ? engine_open(&o->engine, &s->engine, f) : fault_set(f, MSG_NO_MEMORY);
	if (rc == ERR_OK)
		rc = catalog_open(&s->catalog, s->engine, f);
	if (rc == ERR_OK) {
		table_states_end(atomic_load(&s->catalog.current));
		rc = streams_recover(s, f);
	}
	if (rc == ERR_OK)
		rc = backlogs_recover(s, f);
	if (rc == ERR_OK)
		rc = writer_start(s, &s->writer, f);
	if (rc == ERR_OK)
		rc = propagation_start(s, &s->propagation, f);
	if (rc == ERR_OK)
		rc = backfill_start(s, &s->backfill, f);
	if (rc == ERR_OK)
		rc = keeper_start(s, o->keeper_ms, &s->keeper, f);
	if (rc != ERR_OK) {
		store_close(&s);
		return rc;
	}
	*out = s;
	return ERR_OK;
}

void store_close(struct store **s)
{
	if (*s == NULL)
		return;
	keeper_stop(&(*s)->keeper);
	if ((*s)->backfill != NULL)
		backfill_stop((*s)->backfill);
	if ((*s)->propagation != NULL)
		propagation_stop((*s)->propagation);
	writer_stop(&(*s)->writer);
	backfill_free(&(*s)->backfill);
	propagation_free(&(*s)->propagation);
	catalog_close(&(*s)->catalog);
	engine_close(&(*s)->engine);
	pthread_mutex_destroy(&(*s)->minutes_lock);
	free((*s)->region);
	free((*s)->account);
	free(*s);
	*s = NULL;
}

uint64_t store_now_ms(const struct store *s)
{
	return clock_wall_ms(&s->clock);
}

void store_clock_advance(struct store *s, uint64_t ms)
{
	minutely_look(s); /* what was consumed until now belongs to the time until now */
	clock_advance(&s->clock, ms);
	keeper_settle(s->keeper);
	propagation_settle(s->propagation);
}

void store_wind_down(struct store *s)
{
	keeper_wind_down(s->keeper);
	propagation_wind_down(s->propagation);
}

uint64_t store_set_map_max(struct store *s, uint64_t bytes)
{
	return engine_set_map_max(s->engine, bytes);
}

void store_set_index_delay(struct store *s, uint32_t ms)
{
	atomic_store_explicit(&s->index_delay_ms, ms, memory_order_relaxed);
	propagation_wake(s->propagation);
}

uint32_t store_index_delay(struct store *s)
{
	return atomic_load_explicit(&s->index_delay_ms, memory_order_relaxed);
}

void store_submit(struct store *s, struct store_write *w)
{
	writer_submit(s->writer, w);
}

void store_stats(struct store *s, struct store_stats *out)
{
	struct catalog_reader r;

	*out = (struct store_stats){ .writes = 0 };
	engine_stats(s->engine, &out->engine);
	writer_stats(s->writer, out);
	catalog_join(&s->catalog, &r);
	out->tables = (unsigned)catalog_current(&s->catalog, &r)->n;
	catalog_leave(&s->catalog, &r);
}

/* x: the index that is told of, or NULL. */
static void tell_meter(struct store *s, store_meter_fn *fn, void *arg, const struct table *t, const struct table_index *x)
{
	struct meter_totals sum;

	meter_sum(throughput_meter(t, x), &sum);
	sum.partitions = throughput_parts(t, x)->n;
	for (unsigned use = 0; use < METER_USES; use++)
		sum.limit[use] = throughput_rate(s, t, x, use);
	fn(arg, t->name, x != NULL ? x->name : SLICE_NONE, &sum);
}

void store_meters(struct store *s, store_meter_fn *fn, void *arg)
{
	struct catalog_reader r;

	catalog_join(&s->catalog, &r);
	const struct catalog *c = catalog_current(&s->catalog, &r);

	for (size_t i = 0; i < c->n; i++) {
		const struct table *t = &c->by_name[i]->table;

		tell_meter(s, fn, arg, t, NULL);
		for (unsigned k = 0; k < t->gsis; k++)
			tell_meter(s, fn, arg, t, &t->index[k]);
	}
	catalog_leave(&s->catalog, &r);
}

/* ---- readers ---- */

struct store_reader *store_reader_new(struct store *s)
{
	struct store_reader *r = calloc(1, sizeof *r);

	if (r == NULL)
		return NULL;
	r->store = s;
	r->exprs = expr_cache_new(EXPRS_CACHED);
	if (r->exprs == NULL) {
		free(r);
		return NULL;
	}
	buf_init(&r->key);
	catalog_join(&s->catalog, &r->catalog);
	return r;
}

void store_reader_free(struct store_reader **r)
{
	if (*r == NULL)
		return;
	store_reader_release(*r);
	catalog_leave(&(*r)->store->catalog, &(*r)->catalog);
	expr_cache_free(&(*r)->exprs);
	buf_release(&(*r)->key);
	free(*r);
	*r = NULL;
}

void store_reader_quiesce(struct store_reader *r)
{
	r->of_view = NULL; /* may be freed from now on, though a view should not be open here */
	catalog_quiesce(&r->catalog);
}

void store_reader_release(struct store_reader *r)
{
	if (r->view != NULL)
		view_close(&r->view);
	r->of_view = NULL;
}

enum err reader_view(struct store_reader *r, struct view **v, struct fault *f)
{
	if (r->view == NULL) {
		/* First the catalog, then the view: the writer publishes them the other way round. */
		r->of_view = catalog_current(&r->store->catalog, &r->catalog);
		enum err rc = view_open(r->store->engine, &r->view, f);

		if (rc != ERR_OK)
			return rc;
	}
	*v = r->view;
	return ERR_OK;
}

const struct catalog *reader_catalog(struct store_reader *r)
{
	return r->of_view != NULL ? r->of_view : catalog_current(&r->store->catalog, &r->catalog);
}

/* ---- tables ---- */

const struct catalog_table *reader_catalog_table(struct store_reader *r, struct slice name)
{
	return table_state_find(r->store, reader_catalog(r), control_table_name(name));
}

const struct table *store_table(struct store_reader *r, struct slice name)
{
	const struct catalog_table *t = reader_catalog_table(r, name);

	return t != NULL && table_serves(r->store, t) ? &t->table : NULL;
}

enum err reader_table(struct store_reader *r, struct slice name, const struct table **t, struct fault *f)
{
	*t = store_table(r, name);
	return *t != NULL ? ERR_OK : fault_set(f, MSG_TABLE_UNKNOWN);
}

/* ---- items ---- */

enum err store_get(struct store_reader *r, const struct table *t, struct slice key, uint64_t hash, struct slice *item,
	struct fault *f)
{
	struct view *v;
	enum err rc = reader_view(r, &v, f);

	if (rc != ERR_OK)
		return rc;
	buf_clear(&r->key);
	if (!keycode_hashed(&r->key, t->id, &t->key, key, hash))
		return fault_set(f, MSG_KEY_SCHEMA);
	return r->key.failed ? fault_set(f, MSG_NO_MEMORY) : view_get(v, buf_slice(&r->key), item, f);
}

enum err store_read(struct store_reader *r, const struct table *t, struct slice key, uint64_t hash, enum read_consistency c,
	struct slice *item, struct fault *f)
{
	enum err rc = throughput_admit(r->store, t, NULL, hash, METER_READ, f);

	if (rc == ERR_OK)
		rc = store_get(r, t, key, hash, item, f);
	if (rc == ERR_OK && r->store->capacity != CAPACITY_OFF)
		throughput_charge(r->store, t, NULL, hash, METER_READ,
			capacity_read_halves(slice_present(*item) ? item_size(*item) : 0, c));
	return rc;
}
