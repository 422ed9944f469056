/* expr_key - key conditions: a condition that names one partition, and perhaps a range in it.
 *
 * A key condition is parsed and bound as a condition, with all its checks; then its primitives become terms, one per
 * key attribute, and the terms are fitted to the schema. KeyConditions, the older form, make terms too.
 * Threads and ownership: expr.h. */
#include "protocol/expr_int.h"
#include "protocol/messages.h"

/* ---- from a condition to terms ---- */

struct walk {
	const struct expr *e;
	const struct cond_step *step;   /* the next primitive's; others are skipped */
	struct key_term term[KEY_TERMS_MAX];
	unsigned n;                     /* perhaps more than there is room for: no schema has so many */
	struct fault *f;
};

static enum key_op key_op(enum op_code op, bool reversed)
{
	switch (op) {
	case EXPR_EQ:
		return KEY_OP_EQ;
	case EXPR_LT:
		return reversed ? KEY_OP_GT : KEY_OP_LT;
	case EXPR_LE:
		return reversed ? KEY_OP_GE : KEY_OP_LE;
	case EXPR_GT:
		return reversed ? KEY_OP_LT : KEY_OP_GT;
	case EXPR_GE:
		return reversed ? KEY_OP_LE : KEY_OP_GE;
	case EXPR_BETWEEN:
		return KEY_OP_BETWEEN;
	case EXPR_BEGINS_WITH:
		return KEY_OP_BEGINS_WITH;
	default:
		return KEY_OP_NONE;
	}
}

static enum err add_term(struct walk *w, const struct cond_step *s, uint16_t at)
{
	const struct operand *o = s->operand;
	struct slice name = o[at].path.step[0].name;

	for (unsigned i = 0; i < w->n && i < KEY_TERMS_MAX; i++)
		if (slice_eq(w->term[i].name, name))
			return fault_set(w->f, MSG_KEYCOND_TWICE);
	if (w->n++ >= KEY_TERMS_MAX)
		return ERR_OK;
	w->term[w->n - 1] = (struct key_term){ .name = name, .op = key_op((enum op_code)s->op, at != 0),
		.lo = o[at == 0 ? 1 : 0].value, .hi = s->op == EXPR_BETWEEN ? o[2].value : SLICE_NONE };
	return ERR_OK;
}

/* Which operand is the key attribute. */
static enum err find_attribute(struct walk *w, const struct cond_step *s, uint16_t *at)
{
	bool found = false;

	for (uint16_t i = 0; i < s->operands; i++) {
		if (s->operand[i].kind == OPERAND_VALUE)
			continue;
		if (s->operand[i].kind != OPERAND_PATH)
			return fault_set(w->f, MSG_KEYCOND_NESTED_OPERATION);
		if (found)
			return fault_set(w->f, MSG_KEYCOND_MANY_NAMES);
		if (s->operand[i].path.n > 1)
			return fault_set(w->f, MSG_KEYCOND_NESTED_PATH);
		found = true;
		*at = i;
	}
	return found ? ERR_OK : fault_set(w->f, MSG_KEYCOND_NO_NAME);
}

static enum err walk_primitive(struct walk *w, const struct node *n)
{
	const struct cond_step *s;
	const char *word = expr_op_word((enum op_code)n->op);
	uint16_t at = 0;
	enum err rc;

	while (w->step->kind != COND_TEST)
		w->step++;
	s = w->step++;
	if (key_op((enum op_code)n->op, false) == KEY_OP_NONE)
		return fault_set(w->f, MSG_KEYCOND_OPERATOR, word);
	if ((n->op == EXPR_BETWEEN || n->op == EXPR_BEGINS_WITH) && s->operand[0].kind != OPERAND_PATH)
		return fault_set(w->f, MSG_KEYCOND_FIRST_OPERAND, word);
	rc = find_attribute(w, s, &at);
	return rc == ERR_OK ? add_term(w, s, at) : rc;
}

static enum err walk_condition(struct walk *w, const struct node *n)
{
	const struct node *first = &w->e->node[n->first];
	enum err rc;

	if (n->op == EXPR_OR || n->op == EXPR_NOT)
		return fault_set(w->f, MSG_KEYCOND_OPERATOR, expr_op_word((enum op_code)n->op));
	if (n->op != EXPR_AND)
		return walk_primitive(w, n);
	rc = walk_condition(w, first);
	return rc == ERR_OK ? walk_condition(w, &w->e->node[first->next]) : rc;
}

enum err key_condition_fit(const struct expr *e, const struct condition *bound, const struct key_schema *ks,
	struct key_condition *out, struct fault *f)
{
	struct walk w = { .e = e, .step = bound->step, .f = f };
	enum err rc = walk_condition(&w, &e->node[e->root]);

	if (rc != ERR_OK || ks == NULL)
		return rc;
	return key_terms_fit(w.term, w.n, ks, out, f);
}

/* ---- from terms to a schema ---- */

static const struct key_term *term_of(const struct key_term *t, unsigned n, struct slice name)
{
	for (unsigned i = 0; i < n; i++)
		if (slice_eq(t[i].name, name))
			return &t[i];
	return NULL;
}

static enum err check_term(const struct key_term *t, const struct key_attr *attr, struct fault *f)
{
	if (t->op == KEY_OP_NONE)
		return fault_set(f, MSG_KEYCOND_INDEXABLE);
	if (value_type(t->lo) != attr->type || (slice_present(t->hi) && value_type(t->hi) != attr->type))
		return fault_set(f, MSG_KEYCOND_TYPE);
	if (attr->type != VALUE_N && value_bytes(t->lo).n == 0)
		return fault_set(f, MSG_KEY_EMPTY, attr->type == VALUE_S ? "string" : "binary", SLICE_FMT(attr->name));
	return ERR_OK;
}

/* A key of several attributes has rules, and words, of its own. */
static bool several(const struct key_schema *ks)
{
	return ks->hashes > 1 || ks->ranges > 1;
}

static enum err fit_hash(const struct key_term *t, unsigned n, const struct key_schema *ks, struct key_condition *out,
	struct fault *f)
{
	for (unsigned i = 0; i < ks->hashes; i++) {
		const struct key_term *h = term_of(t, n, ks->hash[i].name);
		enum err rc;

		if (h == NULL)
			return several(ks) ? fault_set(f, MSG_KEYCOND_HASHES, SLICE_FMT(ks->hash[i].name)) :
				fault_set(f, MSG_KEYCOND_MISSED, SLICE_FMT(ks->hash[i].name));
		rc = check_term(h, &ks->hash[i], f);
		if (rc != ERR_OK)
			return rc;
		if (h->op != KEY_OP_EQ)
			return several(ks) ? fault_set(f, MSG_KEYCOND_HASHES, SLICE_FMT(ks->hash[i].name)) :
				fault_set(f, MSG_KEYCOND_UNSUPPORTED);
		out->hash[i] = h->lo;
	}
	return ERR_OK;
}

/* Attribute number i of the range is without =, though there is a condition on a later one; if on none, one on no key at all. */
static enum err range_gap(const struct key_term *t, unsigned n, const struct key_schema *ks, unsigned i, struct fault *f)
{
	for (unsigned k = i + 1; k < ks->ranges; k++)
		if (term_of(t, n, ks->range[k].name) != NULL)
			return fault_set(f, MSG_KEYCOND_RANGES, SLICE_FMT(ks->range[i].name), SLICE_FMT(ks->range[k].name));
	return fault_set(f, MSG_KEYCOND_MISSED, SLICE_FMT(ks->range[i].name));
}

/* Range attributes from left to right: any number of =, then at most one other operator. left: terms not yet used. */
static enum err fit_range(const struct key_term *t, unsigned n, unsigned left, const struct key_schema *ks,
	struct key_condition *out, struct fault *f)
{
	for (unsigned i = 0; i < ks->ranges && left > 0; i++, left--) {
		const struct key_term *r = term_of(t, n, ks->range[i].name);
		enum err rc;

		if (r == NULL)
			return several(ks) ? range_gap(t, n, ks, i, f) :
				fault_set(f, MSG_KEYCOND_MISSED, SLICE_FMT(ks->range[i].name));
		rc = check_term(r, &ks->range[i], f);
		if (rc != ERR_OK)
			return rc;
		if (out->op != KEY_OP_NONE) /* only where there are several */
			return range_gap(t, n, ks, i - 1, f);
		if (r->op == KEY_OP_EQ) {
			out->range_eq[out->range_eqs++] = r->lo;
		} else {
			out->op = r->op;
			out->lo = r->lo;
			out->hi = r->hi;
		}
	}
	return left == 0 ? ERR_OK : fault_set(f, MSG_KEYCOND_UNSUPPORTED);
}

enum err key_terms_fit(const struct key_term *t, unsigned n, const struct key_schema *ks, struct key_condition *out,
	struct fault *f)
{
	unsigned keys = ks->hashes + ks->ranges;
	enum err rc;

	*out = (struct key_condition){ .op = KEY_OP_NONE };
	if (n == 0)
		return fault_set(f, MSG_KEYCOND_NONE);
	if (keys == 1 && n > 1)
		return fault_set(f, MSG_KEYCOND_UNSUPPORTED);
	if (n > keys)
		return fault_set(f, MSG_KEYCOND_MANY, n, keys);
	rc = fit_hash(t, n, ks, out, f);
	return rc == ERR_OK ? fit_range(t, n, n - ks->hashes, ks, out, f) : rc;
}
