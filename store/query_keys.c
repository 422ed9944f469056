/* query_keys - the keys of a Query or Scan: is the start key one of its entries, and which bytes are left to read?
 *
 *    lo                    start                       hi
 *    |----- read before ---|--- ascending: the rest ---|        descending: the rest lies before start
 *
 * Source of the checks' order and words: the service's, as recorded by tests of others that run against it. */
#include "protocol/messages.h"
#include "store/check_key.h"
#include "store/keycode.h"
#include "store/query_int.h"

static unsigned add_names(const struct key_attr *attr, unsigned n, struct slice *name, unsigned have)
{
	for (unsigned i = 0; i < n; i++) {
		unsigned k = 0;

		while (k < have && !slice_eq(name[k], attr[i].name))
			k++;
		if (k == have)
			name[have++] = attr[i].name;
	}
	return have;
}

unsigned query_place(const struct query *q, struct slice name[PLACE_ATTRS_MAX])
{
	unsigned n = add_names(q->table->key.hash, q->table->key.hashes, name, 0);

	n = add_names(q->table->key.range, q->table->key.ranges, name, n);
	n = add_names(q->key->hash, q->key->hashes, name, n);
	return add_names(q->key->range, q->key->ranges, name, n);
}

/* ---- the start key ---- */

static enum err bad_schema(struct fault *f)
{
	return fault_set(f, MSG_VALUE_IN_START_KEY, "The provided key element does not match the schema");
}

enum err query_start_count(const struct query *q, struct fault *f)
{
	struct slice name[PLACE_ATTRS_MAX];

	if (!slice_present(q->start) || value_count(q->start) == query_place(q, name))
		return ERR_OK;
	return q->scan && q->index == NULL ? bad_schema(f) : fault_set(f, MSG_START_KEY);
}

enum err query_start_attrs(const struct query *q, const struct key_attr *attr, unsigned n, bool hash, struct fault *f)
{
	enum err rc = ERR_OK;

	for (unsigned i = 0; slice_present(q->start) && i < n && rc == ERR_OK; i++) {
		struct slice v = map_get(q->start, attr[i].name);

		if (!slice_present(v))
			return fault_set(f, MSG_START_KEY);
		if (value_type(v) != attr[i].type)
			return fault_set(f, MSG_KEY_SCHEMA);
		rc = check_key_value(&attr[i], v, hash, f);
	}
	return rc;
}

/* The table's own key inside the start key. */
static enum err check_base(const struct query *q, const struct key_attr *attr, unsigned n, bool hash, struct fault *f)
{
	for (unsigned i = 0; i < n; i++) {
		struct slice v = map_get(q->start, attr[i].name);

		if (!slice_present(v) || value_type(v) != attr[i].type)
			return bad_schema(f);
		if (check_key_value(&attr[i], v, hash, f) != ERR_OK)
			return fault_set(f, MSG_VALUE_IN_START_KEY, f->text);
	}
	return ERR_OK;
}

static bool same_partition(const struct query *q)
{
	for (unsigned i = 0; i < q->key->hashes; i++)
		if (!value_eq(map_get(q->start, q->key->hash[i].name), q->condition.hash[i]))
			return false;
	return true;
}

static bool satisfies(const struct key_condition *c, struct slice v)
{
	switch (c->op) {
	case KEY_OP_NONE:
		return true;
	case KEY_OP_EQ:
		return value_eq(v, c->lo);
	case KEY_OP_LT:
		return value_cmp(v, c->lo) < 0;
	case KEY_OP_LE:
		return value_cmp(v, c->lo) <= 0;
	case KEY_OP_GT:
		return value_cmp(v, c->lo) > 0;
	case KEY_OP_GE:
		return value_cmp(v, c->lo) >= 0;
	case KEY_OP_BETWEEN:
		return value_cmp(v, c->lo) >= 0 && value_cmp(v, c->hi) <= 0;
	case KEY_OP_BEGINS_WITH:
		return slice_starts_with(value_bytes(v), value_bytes(c->lo));
	}
	return false;
}

static bool in_range(const struct query *q)
{
	const struct key_condition *c = &q->condition;

	for (unsigned i = 0; i < c->range_eqs; i++)
		if (!value_eq(map_get(q->start, q->key->range[i].name), c->range_eq[i]))
			return false;
	return c->op == KEY_OP_NONE || satisfies(c, map_get(q->start, q->key->range[c->range_eqs].name));
}

/* A partition of one item has nothing after a start key. */
static enum err no_range(const struct query *q, struct fault *f)
{
	const struct key_attr *a = &q->key->hash[0];
	struct slice v = map_get(q->start, a->name), shown = value_bytes(v);
	char text[NUMBER_TEXT];

	if (a->type == VALUE_N)
		shown = slice_of(text, number_format(shown, text));
	else if (a->type == VALUE_B)
		shown = SLICE_LIT("...");
	return fault_set(f, MSG_START_NO_RANGE, SLICE_FMT(a->name), value_type_name(a->type), SLICE_FMT(shown));
}

static enum err check_query_place(const struct query *q, struct fault *f)
{
	bool ranged = q->condition.range_eqs != 0 || q->condition.op != KEY_OP_NONE;

	if (ranged && !in_range(q))
		return fault_set(f, MSG_START_PREDICATE);
	if (!same_partition(q))
		return ranged ? fault_set(f, MSG_START_ONE_ROW) : fault_set(f, MSG_START_OUTSIDE);
	if (q->index == NULL && q->key->ranges == 0)
		return no_range(q, f);
	return ERR_OK;
}

static enum err check_segment(const struct query *q, struct fault *f)
{
	uint64_t hash;

	if (!keycode_hash(q->key, q->start, &hash))
		return bad_schema(f);
	if (keycode_segment_of(hash, q->segments) != q->segment)
		return fault_set(f, MSG_START_SEGMENT, q->segments, q->segment);
	return ERR_OK;
}

enum err query_start_place(const struct query *q, struct fault *f)
{
	enum err rc;

	if (!slice_present(q->start))
		return ERR_OK;
	rc = check_base(q, q->table->key.hash, q->table->key.hashes, true, f);
	if (rc == ERR_OK)
		rc = check_base(q, q->table->key.range, q->table->key.ranges, false, f);
	if (rc != ERR_OK)
		return rc;
	return q->scan ? check_segment(q, f) : check_query_place(q, f);
}

/* ---- the key condition ---- */

enum err query_check_condition(const struct query *q, struct fault *f)
{
	const struct key_condition *c = &q->condition;
	enum err rc = ERR_OK;

	for (unsigned i = 0; i < q->key->hashes && rc == ERR_OK; i++)
		rc = check_key_value(&q->key->hash[i], c->hash[i], true, f);
	for (unsigned i = 0; i < c->range_eqs && rc == ERR_OK; i++)
		rc = check_key_value(&q->key->range[i], c->range_eq[i], false, f);
	if (rc == ERR_OK && c->op != KEY_OP_NONE)
		rc = check_key_value(&q->key->range[c->range_eqs], c->lo, false, f);
	if (rc == ERR_OK && c->op == KEY_OP_BETWEEN)
		rc = check_key_value(&q->key->range[c->range_eqs], c->hi, false, f);
	return rc;
}

/* ---- bounds ---- */

/* The start key was checked: it has every attribute that its bytes need. */
static bool put_start(const struct query *q, struct buf *b)
{
	buf_clear(b);
	if (q->index != NULL)
		return keycode_entry(b, q->index, &q->table->key, q->start, NULL);
	return keycode_item(b, q->table->id, &q->table->key, q->start, NULL);
}

bool query_bounds(const struct query *q, struct buf *lo, struct buf *hi)
{
	uint32_t id = q->index != NULL ? q->index->id : q->table->id;

	if (q->scan)
		keycode_segment(lo, hi, id, q->segment, q->segments);
	else if (!keycode_condition(lo, hi, id, q->key, &q->condition, NULL))
		return false;
	if (slice_present(q->start)) {
		if (!put_start(q, q->descending ? hi : lo))
			return false;
		if (!q->descending)
			keycode_after(lo);
	}
	return slice_cmp(buf_slice(lo), buf_slice(hi)) < 0;
}
