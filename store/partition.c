/* partition - see partition.h. Lists, counters, and what the writer changes. */
#include "store/partition.h"

#include "protocol/messages.h"
#include "store/background.h"
#include "store/control.h"
#include "store/heat.h"
#include "store/keycode.h"
#include "store/spec.h"
#include "store/streams.h"
#include "store/table_edit.h"
#include "store/write_txn.h"

/* Of the table, or of one of its indexes by id; NULL if the id is neither. */
static const struct partitions *partitions_of(const struct table *t, uint32_t owner)
{
	const struct table_index *x = catalog_find_index(t, owner);

	return t->id == owner ? &t->parts : x != NULL ? &x->parts : NULL;
}

bool partition_rows_drop(struct catalog_facts *facts, uint32_t owner, struct arena *a)
{
	struct partition_row *rows = arena_alloc(a, (facts->rows + 1) * sizeof *rows);
	unsigned n = 0;

	if (rows == NULL)
		return false;
	for (unsigned i = 0; i < facts->rows; i++)
		if (facts->row[i].owner != owner)
			rows[n++] = facts->row[i];
	facts->row = rows;
	facts->rows = n;
	return true;
}

/* ---- counters ---- */

static void add(struct counters *sum, const struct counters *c)
{
	sum->entries += c->entries;
	sum->bytes += c->bytes;
}

enum err partitions_read(struct engine *e, const struct partitions *p, struct counters *c, struct fault *f)
{
	enum err rc = ERR_OK;

	*c = (struct counters){ 0 };
	for (unsigned i = 0; i < p->n && rc == ERR_OK; i++) {
		struct counters one;

		rc = counters_read(e, p->part[i].id, &one, f);
		add(c, &one);
	}
	return rc;
}

enum err partitions_view(struct view *v, const struct partitions *p, struct counters *c, struct fault *f)
{
	enum err rc = ERR_OK;

	*c = (struct counters){ 0 };
	for (unsigned i = 0; i < p->n && rc == ERR_OK; i++) {
		struct counters one;

		rc = counters_view(v, p->part[i].id, &one, f);
		add(c, &one);
	}
	return rc;
}

enum err partition_cursor(struct view *v, uint32_t owner, uint64_t from, uint64_t to, struct cursor **c, struct fault *f)
{
	struct buf lo, hi;

	buf_init(&lo);
	buf_init(&hi);
	keycode_range(&lo, &hi, owner, from, to);
	enum err rc = lo.failed || hi.failed ? fault_set(f, MSG_NO_MEMORY)
		: cursor_open(v, buf_slice(&lo), buf_slice(&hi), false, c, f);

	buf_release(&lo);
	buf_release(&hi);
	return rc;
}

/* ---- how many ---- */

static unsigned parts_for(int64_t units, uint32_t rate)
{
	int64_t each = rate / CAPACITY_HALVES, n = units / each + (units % each != 0);

	return n < 1 ? 1 : n < PARTITIONS_MAX ? (unsigned)n : PARTITIONS_MAX;
}

unsigned partitions_wanted(const struct store *s, const struct record *spec, int place)
{
	bool on_demand = record_is(spec, CreateTableInput_BillingMode, "PAY_PER_REQUEST");
	struct slice warm = spec_get(spec, place, SPEC_WARM);

	if (on_demand && s->capacity != CAPACITY_AWS && !slice_present(warm))
		return 1;
	struct units u = units_warm(warm, spec_get(spec, place, SPEC_PROVISIONED), on_demand);
	unsigned read = parts_for(u.read, s->partition_rate[METER_READ]), write = parts_for(u.write, s->partition_rate[METER_WRITE]);

	return read > write ? read : write;
}

enum err partitions_begin(struct write_txn *t, struct catalog_facts *facts, uint32_t owner, unsigned n, struct fault *f)
{
	uint64_t width = UINT64_MAX / n + 1;
	uint32_t first;

	if (n == 1) /* N2 */
		return ERR_OK;
	struct partition_row *rows = arena_alloc(t->arena, (facts->rows + n) * sizeof *rows);
	enum err rc = rows != NULL ? control_take_ids(t, n - 1, &first, f) : fault_set(f, MSG_NO_MEMORY);

	if (rc != ERR_OK)
		return rc;
	if (facts->rows != 0)
		memcpy(rows, facts->row, facts->rows * sizeof *rows);
	for (unsigned i = 0; i < n; i++)
		rows[facts->rows + i] = (struct partition_row){ owner, { .id = i == 0 ? owner : first + i - 1, .from = i * width } };
	facts->row = rows;
	facts->rows += n;
	return ERR_OK;
}

/* ---- changing the catalog, on the writer ---- */

/* The rows of a table in a new list, with room for two more. */
static enum err draft_rows(struct table_edit *e, struct partition_row **rows, struct fault *f)
{
	struct catalog_facts *facts = &e->draft.facts;

	*rows = arena_alloc(e->arena, (facts->rows + 2) * sizeof **rows);
	if (*rows == NULL)
		return fault_set(f, MSG_NO_MEMORY);
	if (facts->rows != 0)
		memcpy(*rows, facts->row, facts->rows * sizeof **rows);
	facts->row = *rows;
	return ERR_OK;
}

/* Put the new partition behind the one that it was cut from. */
static void insert_row(struct catalog_draft *d, struct partition_row *rows, uint32_t owner, uint32_t id, uint64_t at)
{
	unsigned i = 0;
	bool cut_before = false;

	for (unsigned k = 0; k < d->facts.rows; k++)
		cut_before |= rows[k].owner == owner;
	if (!cut_before)
		rows[d->facts.rows++] = (struct partition_row){ owner, { .id = owner } };
	while (i < d->facts.rows && !(rows[i].owner == owner && rows[i].part.from > at))
		i++;
	memmove(rows + i + 1, rows + i, (d->facts.rows - i) * sizeof *rows);
	rows[i] = (struct partition_row){ owner, { .id = id, .from = at, .uncounted = true } };
	d->facts.rows++;
}

/* Local indexes have their table's partitions. */
void partitions_recost(struct write_txn *t, const struct table *table, uint32_t owner)
{
	write_txn_change(t, &(struct store_change){ .table = owner, .scans = true });
	for (unsigned i = table->gsis; owner == table->id && i < table->gsis + table->lsis; i++)
		write_txn_change(t, &(struct store_change){ .table = table->index[i].id, .scans = true });
}

bool partitions_counted(const struct partitions *p)
{
	for (unsigned i = 0; i < p->n; i++)
		if (p->part[i].uncounted)
			return false;
	return true;
}

static struct meter *meter_of(const struct table *t, uint32_t owner)
{
	int place = spec_place(t, owner);

	return place == SPEC_TABLE ? t->meter : t->index[place].meter;
}

static enum err cut_apply(struct write_batch *b, struct store_write *w)
{
	const struct partition_cut *cut = w->plan->control;
	const struct catalog_table *ct = catalog_find_id(b->catalog, cut->table);
	const struct partitions *p = ct != NULL ? partitions_of(&ct->table, cut->owner) : NULL;
	struct partition_row *rows;
	struct table_edit e;
	uint32_t id;

	/* N3: one at a time. What is gone, or cut there, needs nothing. */
	if (p == NULL || !partitions_counted(p) || partition_at(p, cut->at)->from == cut->at)
		return ERR_OK;
	enum err rc = table_edit_begin(&e, b, w, ct);

	if (rc == ERR_OK)
		rc = control_take_ids(&e.txn, 1, &id, &w->fault);
	if (rc == ERR_OK)
		rc = draft_rows(&e, &rows, &w->fault);
	if (rc == ERR_OK) {
		insert_row(&e.draft, rows, cut->owner, id, cut->at);
		partitions_recost(&e.txn, &ct->table, cut->owner);
		if (cut->owner == cut->table)
			rc = stream_split(&e.txn, ct, &e.draft.facts, cut->at, &w->fault);
	}
	/* Both outlive the description that they are found in. */
	struct meter *meter = meter_of(&ct->table, cut->owner);
	struct heat *left = partition_heat(p, cut->at);

	rc = table_edit_end(&e, w, rc);
	if (rc != ERR_OK)
		return rc;
	atomic_fetch_add_explicit(&meter->cuts[cut->why], 1, memory_order_relaxed);
	heat_calm(left);
	return ERR_OK;
}

enum err partition_cut(struct own_write *o, struct arena *a, const struct partition_cut *cut)
{
	struct partition_cut copy = *cut;

	return own_write_run(o, a, cut_apply, &copy);
}

static enum err settle_apply(struct write_batch *b, struct store_write *w)
{
	const struct partition_count *c = w->plan->control;
	const struct catalog_table *ct = catalog_find_id(b->catalog, c->table);
	struct partition_row *rows;
	struct table_edit e;

	if (ct == NULL || partitions_of(&ct->table, c->owner) == NULL)
		return ERR_OK;
	enum err rc = table_edit_begin(&e, b, w, ct);

	if (rc == ERR_OK)
		rc = draft_rows(&e, &rows, &w->fault);
	if (rc == ERR_OK) {
		for (unsigned i = 0; i < e.draft.facts.rows; i++)
			if (rows[i].part.id == c->id)
				rows[i].part.uncounted = false;
		write_txn_count(&e.txn, c->id, (int64_t)c->had.entries, (int64_t)c->had.bytes);
		write_txn_count(&e.txn, c->left, -(int64_t)c->had.entries, -(int64_t)c->had.bytes);
	}
	return table_edit_end(&e, w, rc);
}

enum err partition_settle(struct own_write *o, struct arena *a, const struct partition_count *c)
{
	struct partition_count copy = *c;

	return own_write_run(o, a, settle_apply, &copy);
}
