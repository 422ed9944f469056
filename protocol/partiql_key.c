/* partiql_key - what a WHERE says about the keys: the partitions and ranges that a SELECT reads.
 *
 *    pk = 'a' AND sk IN ['1', '2'] OR pk = 'b' AND sk > '5'      ->      a: [1,1]   a: [2,2]   b: (5,
 *
 * A WHERE is spread into branches, each a partition, perhaps, and an interval of the range key; AND joins every branch of
 * its left with every one of its right, OR puts them side by side, and what is not about keys, or is negated, leaves its
 * branch as wide as it was. If each branch has a partition these are the reads (P2); otherwise everything is read.
 * Branches are wider than the WHERE, never narrower: the WHERE itself is the filter of every read.
 * Branches that overlap are refused, unless one is wide by a negation: then they are read as one. */
#include <stdlib.h>

#include "protocol/partiql_int.h"

enum { BRANCHES_MAX = 1000 };

struct branch {
	struct slice hash;              /* absent: any */
	bool nothing;                   /* two partitions at once */
	struct slice lo, hi;            /* absent: open */
	bool lo_open, hi_open, prefix;
	bool negated;                   /* a condition on the range key that leaves the branch wide: NOT, <> */
};

struct branches { struct branch *b; unsigned n; };

struct spreader {
	const struct statement *s;
	const struct key_schema *ks;
	struct pq_binder binder;
	bool too_many;
};

/* ---- terms ---- */

static bool is_path(const struct pq_node *n)
{
	return n->kind == PQ_PATH && n->path.n == 1;
}

static enum key_op op_of(struct slice word, bool reversed)
{
	static const struct { const char *word; enum key_op op, reversed; } all[] = {
		{ "=", KEY_OP_EQ, KEY_OP_EQ }, { "<", KEY_OP_LT, KEY_OP_GT }, { "<=", KEY_OP_LE, KEY_OP_GE },
		{ ">", KEY_OP_GT, KEY_OP_LT }, { ">=", KEY_OP_GE, KEY_OP_LE },
	};

	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		if (slice_eq(word, slice_str(all[i].word)))
			return reversed ? all[i].reversed : all[i].op;
	return KEY_OP_NONE;
}

bool pq_term_of(const struct pq_node *n, struct pq_term *t)
{
	const struct pq_node *a = n->first, *b = a != NULL ? a->next : NULL;

	if (b == NULL)
		return false;
	*t = (struct pq_term){ .op = KEY_OP_NONE, .lo = b };
	if (n->kind == PQ_INFIX && is_path(b) && pq_is_literal(a)) {
		*t = (struct pq_term){ b->path.step[0].name, op_of(n->text, true), a, NULL };
		return t->op != KEY_OP_NONE;
	}
	if (!is_path(a) || !pq_is_literal(b))
		return false;
	t->name = a->path.step[0].name;
	if (n->kind == PQ_INFIX) {
		t->op = op_of(n->text, false);
	} else if (n->kind == PQ_BETWEEN && pq_is_literal(b->next)) {
		t->op = KEY_OP_BETWEEN;
		t->hi = b->next;
	} else if (n->kind == PQ_CALL && slice_eq(n->text, SLICE_LIT("begins_with"))) {
		t->op = KEY_OP_BEGINS_WITH;
	}
	return t->op != KEY_OP_NONE;
}

const struct pq_node *pq_in_values(const struct pq_node *n)
{
	const struct pq_node *list;

	if (n->kind != PQ_IN || !is_path(n->first))
		return NULL;
	list = n->first->next;
	if (list->kind != PQ_LIST && list->kind != PQ_BAG)
		return NULL;
	for (const struct pq_node *v = list->first; v != NULL; v = v->next)
		if (!pq_is_literal(v))
			return NULL;
	return list->first;
}

const struct key_attr *pq_key_attr(const struct key_schema *ks, struct slice name, bool *hash)
{
	*hash = slice_eq(ks->hash[0].name, name);
	if (*hash)
		return &ks->hash[0];
	return ks->ranges != 0 && slice_eq(ks->range[0].name, name) ? &ks->range[0] : NULL;
}

static enum err key_value(struct spreader *x, const struct key_attr *attr, const struct pq_node *n, struct slice *out)
{
	struct fault *f = x->binder.f;
	enum err rc = pq_value(&x->binder, n, out);
	enum value_type t;

	if (rc != ERR_OK)
		return rc;
	t = value_type(*out);
	if (t != VALUE_S && t != VALUE_N && t != VALUE_B)
		return fault_set(f, MSG_PQ_KEY_SCALAR, SLICE_FMT(attr->name), value_type_name(t));
	return t == attr->type ? ERR_OK : fault_set(f, MSG_PQ_KEY_MISMATCH, SLICE_FMT(attr->name));
}

/* ---- branches ---- */

static enum err no_memory(struct spreader *x)
{
	return fault_set(x->binder.f, MSG_NO_MEMORY);
}

static bool room(struct spreader *x, struct branches *out, unsigned n)
{
	out->n = n;
	out->b = arena_zalloc(x->s->arena, (n + 1) * sizeof *out->b);
	return out->b != NULL;
}

static enum err wide(struct spreader *x, struct branches *out)
{
	return room(x, out, 1) ? ERR_OK : no_memory(x);
}

/* The first string or binary behind all that begin with v; absent if there is none. */
static struct slice behind_prefix(struct slice v, struct arena *a)
{
	struct slice bytes = value_bytes(v), out = SLICE_NONE;
	struct buf b;

	while (bytes.n > 0 && bytes.p[bytes.n - 1] == 0xff)
		bytes.n--;
	if (bytes.n == 0)
		return SLICE_NONE;
	buf_init(&b);
	if (value_type(v) == VALUE_S)
		value_put_string(&b, bytes);
	else
		value_put_binary(&b, bytes);
	if (!b.failed) {
		b.p[b.n - 1]++;
		out = arena_copy(a, buf_slice(&b));
	}
	buf_release(&b);
	return out;
}

static void interval(struct branch *b, enum key_op op, struct slice lo, struct slice hi, struct arena *a)
{
	b->lo = op == KEY_OP_LT || op == KEY_OP_LE ? SLICE_NONE : lo;
	b->hi = op == KEY_OP_BETWEEN ? hi : op == KEY_OP_GT || op == KEY_OP_GE ? SLICE_NONE : lo;
	b->lo_open = op == KEY_OP_GT;
	b->hi_open = op == KEY_OP_LT;
	if (op == KEY_OP_BEGINS_WITH) {
		b->hi = behind_prefix(lo, a);
		b->hi_open = true;
		b->prefix = true;
	}
}

/* A leaf that is a term on a key; *found tells whether it is. */
static enum err spread_term(struct spreader *x, const struct pq_node *n, struct branches *out, bool *found)
{
	const struct key_attr *attr;
	struct slice lo, hi = SLICE_NONE;
	struct pq_term t;
	bool hash;
	enum err rc;

	*found = false;
	if (!pq_term_of(n, &t))
		return ERR_OK;
	attr = pq_key_attr(x->ks, t.name, &hash);
	if (attr == NULL || (hash && t.op != KEY_OP_EQ))
		return ERR_OK;
	*found = true;
	rc = key_value(x, attr, t.lo, &lo);
	if (rc == ERR_OK && t.hi != NULL)
		rc = key_value(x, attr, t.hi, &hi);
	if (rc != ERR_OK)
		return rc;
	if (!room(x, out, 1))
		return no_memory(x);
	if (hash)
		out->b->hash = lo;
	else
		interval(out->b, t.op, lo, hi, x->s->arena);
	return ERR_OK;
}

static enum err spread_in(struct spreader *x, const struct pq_node *n, struct branches *out, bool *found)
{
	const struct pq_node *v = pq_in_values(n);
	const struct key_attr *attr;
	bool hash;

	*found = false;
	if (v == NULL)
		return ERR_OK;
	attr = pq_key_attr(x->ks, n->first->path.step[0].name, &hash);
	if (attr == NULL)
		return ERR_OK;
	*found = true;
	if (!room(x, out, n->first->next->operands))
		return no_memory(x);
	for (unsigned i = 0; v != NULL; v = v->next, i++) {
		struct slice value = SLICE_NONE;
		enum err rc = key_value(x, attr, v, &value);

		if (rc != ERR_OK)
			return rc;
		if (hash)
			out->b[i].hash = value;
		else
			interval(&out->b[i], KEY_OP_EQ, value, SLICE_NONE, x->s->arena);
	}
	return ERR_OK;
}

static bool names_key(const struct spreader *x, const struct pq_node *n)
{
	struct pq_term t;
	bool hash;

	if (n->kind == PQ_AND || n->kind == PQ_OR)
		return names_key(x, n->first) || names_key(x, n->first->next);
	if (pq_in_values(n) != NULL)
		return pq_key_attr(x->ks, n->first->path.step[0].name, &hash) != NULL;
	return pq_term_of(n, &t) && pq_key_attr(x->ks, t.name, &hash) != NULL && (!hash || t.op == KEY_OP_EQ);
}

static struct branch join(const struct branch *a, const struct branch *b)
{
	struct branch r = *a;
	int c;

	r.negated |= b->negated;
	r.nothing |= b->nothing || (slice_present(a->hash) && slice_present(b->hash) && !value_eq(a->hash, b->hash));
	if (!slice_present(r.hash))
		r.hash = b->hash;
	if (!slice_present(a->lo) && !slice_present(a->hi))
		r.prefix = b->prefix;
	else if (slice_present(b->lo) || slice_present(b->hi))
		r.prefix = false;
	if (slice_present(b->lo)) {
		c = slice_present(r.lo) ? value_cmp(b->lo, r.lo) : 1;
		r.lo_open = c > 0 ? b->lo_open : c == 0 ? r.lo_open || b->lo_open : r.lo_open;
		r.lo = c > 0 ? b->lo : r.lo;
	}
	if (slice_present(b->hi)) {
		c = slice_present(r.hi) ? value_cmp(b->hi, r.hi) : -1;
		r.hi_open = c < 0 ? b->hi_open : c == 0 ? r.hi_open || b->hi_open : r.hi_open;
		r.hi = c < 0 ? b->hi : r.hi;
	}
	return r;
}

static enum err spread(struct spreader *x, const struct pq_node *n, struct branches *out);

static enum err spread_pair(struct spreader *x, const struct pq_node *n, struct branches *out)
{
	struct branches a, b;
	enum err rc = spread(x, n->first, &a);
	unsigned total;

	if (rc == ERR_OK)
		rc = spread(x, n->first->next, &b);
	if (rc != ERR_OK)
		return rc;
	total = n->kind == PQ_AND ? a.n * b.n : a.n + b.n;
	if (total > BRANCHES_MAX) {
		x->too_many = true;
		*out = a;
		return ERR_OK;
	}
	if (!room(x, out, total))
		return no_memory(x);
	if (n->kind == PQ_OR) {
		memcpy(out->b, a.b, a.n * sizeof *a.b);
		memcpy(out->b + a.n, b.b, b.n * sizeof *b.b);
		return ERR_OK;
	}
	for (unsigned i = 0; i < total; i++)
		out->b[i] = join(&a.b[i / b.n], &b.b[i % b.n]);
	return ERR_OK;
}

/* Is there a path below that is the range key? */
static bool names_range(const struct spreader *x, const struct pq_node *n)
{
	bool hash, found = is_path(n) && pq_key_attr(x->ks, n->path.step[0].name, &hash) != NULL && !hash;

	for (const struct pq_node *c = n->first; c != NULL && !found; c = c->next)
		found = names_range(x, c);
	return found;
}

static bool negates_range(const struct spreader *x, const struct pq_node *n)
{
	if (n->kind == PQ_NOT)
		return names_range(x, n->first);
	return n->kind == PQ_INFIX && slice_eq(n->text, SLICE_LIT("<>")) && names_range(x, n);
}

static enum err spread(struct spreader *x, const struct pq_node *n, struct branches *out)
{
	bool found = false;
	enum err rc;

	if (n->kind == PQ_AND || (n->kind == PQ_OR && names_key(x, n)))
		return spread_pair(x, n, out);
	rc = spread_in(x, n, out, &found);
	if (rc == ERR_OK && !found)
		rc = spread_term(x, n, out, &found);
	if (rc != ERR_OK || found)
		return rc;
	rc = wide(x, out);
	if (rc == ERR_OK)
		out->b->negated = negates_range(x, n);
	return rc;
}

/* ---- reads ---- */

static bool is_empty(const struct branch *b)
{
	int c;

	if (b->nothing)
		return true;
	if (!slice_present(b->lo) || !slice_present(b->hi))
		return false;
	c = value_cmp(b->lo, b->hi);
	return c > 0 || (c == 0 && (b->lo_open || b->hi_open));
}

static bool is_point(const struct branch *b)
{
	return slice_present(b->lo) && slice_present(b->hi) && !b->lo_open && !b->hi_open && value_eq(b->lo, b->hi);
}

static int compare_branches(const void *a, const void *b)
{
	const struct branch *x = a, *y = b;
	int c = value_cmp(x->hash, y->hash);

	if (c != 0)
		return c;
	if (!slice_present(x->lo) || !slice_present(y->lo))
		return slice_present(x->lo) - slice_present(y->lo);
	c = value_cmp(x->lo, y->lo);
	return c != 0 ? c : x->lo_open - y->lo_open;
}

/* Sorted branches of one partition may not touch. */
static bool overlaps(const struct branch *reach, const struct branch *b)
{
	int c;

	if (!value_eq(reach->hash, b->hash))
		return false;
	if (!slice_present(reach->hi) || !slice_present(b->lo))
		return true;
	c = value_cmp(b->lo, reach->hi);
	return c < 0 || (c == 0 && !b->lo_open && !reach->hi_open);
}

static void put_key_condition(const struct branch *b, struct key_condition *k)
{
	*k = (struct key_condition){ .op = KEY_OP_NONE };
	k->hash[0] = b->hash;
	k->lo = slice_present(b->lo) ? b->lo : b->hi;
	if (is_point(b)) {
		k->range_eq[k->range_eqs++] = b->lo;
		k->lo = SLICE_NONE;
	} else if (b->prefix) {
		k->op = KEY_OP_BEGINS_WITH;
	} else if (slice_present(b->lo) && slice_present(b->hi)) {
		k->op = KEY_OP_BETWEEN;
		k->hi = b->hi;
	} else if (slice_present(b->lo)) {
		k->op = b->lo_open ? KEY_OP_GT : KEY_OP_GE;
	} else if (slice_present(b->hi)) {
		k->op = b->hi_open ? KEY_OP_LT : KEY_OP_LE;
	}
}

struct slice pq_make_key(const struct key_schema *ks, struct slice hash, struct slice range, struct arena *a)
{
	struct slice out = SLICE_NONE;
	struct map_builder m;
	struct buf b;

	map_builder_init(&m, a);
	map_builder_add(&m, ks->hash[0].name, hash);
	if (slice_present(range))
		map_builder_add(&m, ks->range[0].name, range);
	buf_init(&b);
	if (map_put(&m, &b) && !b.failed)
		out = arena_copy(a, buf_slice(&b));
	buf_release(&b);
	return out;
}

static enum err make_reads(struct spreader *x, struct branches *b, bool table, bool down, struct statement_reads *out)
{
	struct statement_read *read = arena_zalloc(x->s->arena, (b->n + 1) * sizeof *read);

	if (read == NULL)
		return no_memory(x);
	for (unsigned i = 0; i < b->n; i++) {
		const struct branch *from = &b->b[down ? b->n - 1 - i : i];
		struct statement_read *r = &read[i];

		put_key_condition(from, &r->key);
		if (!table || (x->ks->ranges != 0 && !is_point(from)))
			continue;
		r->point = pq_make_key(x->ks, from->hash, x->ks->ranges != 0 ? from->lo : SLICE_NONE, x->s->arena);
		if (!slice_present(r->point))
			return no_memory(x);
	}
	out->read = read;
	out->n = b->n;
	return ERR_OK;
}

/* The ranges of each partition the other way round. */
static void reverse_ranges(struct branches *b)
{
	for (unsigned from = 0, to; from < b->n; from = to) {
		for (to = from + 1; to < b->n && value_eq(b->b[from].hash, b->b[to].hash);)
			to++;
		for (unsigned i = from, k = to - 1; i < k; i++, k--) {
			struct branch t = b->b[i];

			b->b[i] = b->b[k];
			b->b[k] = t;
		}
	}
}

/* ORDER BY: which way the partitions go, and the ranges in them. */
static enum err order_reads(struct spreader *x, bool many, bool *down, bool *descending)
{
	const struct statement *s = x->s;
	bool hash, by_hash = false, hash_down = false, by_range = false, range_down = false;

	for (unsigned i = 0; i < s->orders; i++) {
		if (pq_key_attr(x->ks, s->order[i].name, &hash) == NULL)
			return fault_set(x->binder.f, MSG_PQ_ORDER_KEY, SLICE_FMT(s->order[i].name));
		by_hash |= hash;
		by_range |= !hash;
		hash_down |= hash && s->order[i].descending;
		range_down |= !hash && s->order[i].descending;
	}
	if (s->orders != 0 && many && !by_hash)
		return fault_set(x->binder.f, MSG_PQ_ORDER_HASH);
	*descending = by_range && range_down;
	*down = many ? hash_down : *descending;
	return ERR_OK;
}

static bool is_keyed(const struct spreader *x, const struct branches *b)
{
	for (unsigned i = 0; i < b->n; i++)
		if (!slice_present(b->b[i].hash))
			return false;
	return !x->too_many;
}

/* Two that overlap, the first being the one that begins first, as one. */
static struct branch unite(const struct branch *a, const struct branch *b)
{
	struct branch r = *a;
	int c = !slice_present(a->hi) ? 1 : !slice_present(b->hi) ? -1 : value_cmp(a->hi, b->hi);

	if (c < 0) {
		r.hi = b->hi;
		r.hi_open = b->hi_open;
	} else if (c == 0) {
		r.hi_open = a->hi_open && b->hi_open;
	}
	r.prefix = false;
	r.negated = true;
	return r;
}

static enum err unite_overlaps(struct spreader *x, struct branches *b)
{
	unsigned kept = b->n != 0;

	for (unsigned i = 1; i < b->n; i++) {
		struct branch *reach = &b->b[kept - 1];

		if (!overlaps(reach, &b->b[i]))
			b->b[kept++] = b->b[i];
		else if (reach->negated || b->b[i].negated)
			*reach = unite(reach, &b->b[i]);
		else
			return fault_set(x->binder.f, MSG_PQ_OVERLAP);
	}
	b->n = kept;
	return ERR_OK;
}

static enum err keyed_reads(struct spreader *x, struct branches *b, bool table, struct statement_reads *out)
{
	bool many = false, down = false;
	unsigned kept = 0;
	enum err rc;

	if (b->n > PARTIQL_READS_MAX)
		return fault_set(x->binder.f, MSG_PQ_READS);
	for (unsigned i = 0; i < b->n; i++)
		if (!is_empty(&b->b[i]))
			b->b[kept++] = b->b[i];
	b->n = kept;
	if (kept > 1)
		qsort(b->b, kept, sizeof *b->b, compare_branches);
	for (unsigned i = 1; i < kept; i++)
		many |= !value_eq(b->b[0].hash, b->b[i].hash);
	rc = unite_overlaps(x, b);
	if (rc == ERR_OK)
		rc = order_reads(x, many, &down, &out->descending);
	if (rc != ERR_OK)
		return rc;
	if (down != out->descending)
		reverse_ranges(b);
	return make_reads(x, b, table, down, out);
}

/* Does a condition that all of the WHERE's items meet name partitions? */
static bool keyed_at_top(const struct spreader *x, const struct pq_node *n)
{
	struct pq_term t;
	bool hash = false;

	if (n->kind == PQ_AND)
		return keyed_at_top(x, n->first) || keyed_at_top(x, n->first->next);
	if (pq_in_values(n) != NULL)
		return pq_key_attr(x->ks, n->first->path.step[0].name, &hash) != NULL && hash;
	return pq_term_of(n, &t) && t.op == KEY_OP_EQ && pq_key_attr(x->ks, t.name, &hash) != NULL && hash;
}

enum err statement_reads(const struct statement *s, const struct key_schema *ks, bool table, struct statement_reads *out,
	struct fault *f)
{
	struct spreader x = { .s = s, .ks = ks, .binder = { .text = s->text, .arena = s->arena, .f = f } };
	struct branches b = { NULL, 0 };
	enum err rc = ERR_OK;

	*out = (struct statement_reads){ .scan = true };
	if (s->where_node == NULL)
		return s->orders != 0 ? fault_set(f, MSG_PQ_ORDER_WHERE) : ERR_OK;
	rc = spread(&x, s->where_node, &b);
	if (rc != ERR_OK)
		return rc;
	out->scan = !is_keyed(&x, &b);
	out->keyed = !out->scan && keyed_at_top(&x, s->where_node);
	if (!out->scan)
		return keyed_reads(&x, &b, table, out);
	return s->orders != 0 ? fault_set(f, MSG_PQ_ORDER_SCAN) : ERR_OK;
}
