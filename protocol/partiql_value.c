/* partiql_value - literals as attribute values: 'text', 1.5e3, true, null, [..], {'a': ..}, <<..>>; and parameters.
 *
 * Complaints about a part of a literal name its place: "under root.a[1]". A parameter stands for a whole value, never
 * inside a literal. Recursion is as deep as values nest, VALUE_DEPTH_MAX. */
#include "protocol/partiql_int.h"
#include "protocol/shape.h"

/* Where in a literal we are, from the inside out. */
struct place {
	const struct place *outer;
	struct slice name;              /* absent: an index */
	uint32_t index;
	unsigned depth;
};

static enum err value_at(struct pq_binder *b, const struct pq_node *n, const struct place *where, struct slice *out);

static void put_place(const struct place *where, struct buf *b)
{
	if (where->outer == NULL) {
		buf_put(b, "root", 4);
		return;
	}
	put_place(where->outer, b);
	if (slice_present(where->name))
		buf_printf(b, ".%.*s", SLICE_FMT(where->name));
	else
		buf_printf(b, "[%u]", (unsigned)where->index);
}

/* "root.a[1]" */
static const char *place_text(struct pq_binder *b, const struct place *where)
{
	struct slice s = SLICE_NONE;
	struct buf text;

	buf_init(&text);
	put_place(where, &text);
	if (!text.failed)
		s = arena_copy(b->arena, buf_slice(&text));
	buf_release(&text);
	return slice_present(s) ? (const char *)s.p : "root";
}

/* A complaint of another module, with the place behind it. */
static enum err under(struct pq_binder *b, const struct place *where)
{
	return fault_set(b->f, b->f->code, "%s under %s", b->f->text, place_text(b, where));
}

static enum err keep(struct pq_binder *b, struct buf *from, struct slice *out)
{
	*out = from->failed ? SLICE_NONE : arena_copy(b->arena, buf_slice(from));
	buf_release(from);
	return slice_present(*out) ? ERR_OK : fault_set(b->f, MSG_NO_MEMORY);
}

static const char *kind_name(const struct pq_node *n, struct arena *a)
{
	const char *text;

	switch (n->kind) {
	case PQ_PARAMETER:
		return "Parameter";
	case PQ_PATH:
		return n->path.n == 1 ? "VariableReference" : "Path";
	case PQ_MISSING:
		return "LiteralMissing";
	case PQ_CALL:
		text = arena_printf(a, "%.*s", SLICE_FMT(n->text));
		return text != NULL ? text : "NAry";
	default:
		return "NAry";
	}
}

static enum err unsupported(struct pq_binder *b, const struct pq_node *n, const struct place *where)
{
	return fault_set(b->f, MSG_PQ_DATA_TYPE, kind_name(n, b->arena), place_text(b, where),
		pq_position(b->text, n->at, n->n, b->arena));
}

static enum err number_fault(struct pq_binder *b, enum number_status st, struct slice text)
{
	switch (st) {
	case NUMBER_OVERFLOW:
		return fault_set(b->f, MSG_NUMBER_OVERFLOW);
	case NUMBER_UNDERFLOW:
		return fault_set(b->f, MSG_NUMBER_UNDERFLOW);
	case NUMBER_PRECISION:
		return fault_set(b->f, MSG_NUMBER_PRECISION);
	default:
		return fault_set(b->f, MSG_NUMBER_SYNTAX, SLICE_FMT(text));
	}
}

static enum err number_value(struct pq_binder *b, const struct pq_node *n, const struct place *where, struct slice *out)
{
	struct number x;
	enum number_status st = number_parse(&x, n->text);
	struct buf to;

	if (st != NUMBER_OK) {
		(void)number_fault(b, st, n->text);
		return under(b, where);
	}
	buf_init(&to);
	value_put_number(&to, number_slice(&x));
	return keep(b, &to, out);
}

/* ---- collections ---- */

static enum err list_value(struct pq_binder *b, const struct pq_node *n, const struct place *where, struct slice *out)
{
	struct place inside = { .outer = where, .depth = where->depth + 1 };
	enum err rc = ERR_OK;
	struct buf to;

	buf_init(&to);
	mp_put_array(&to, n->operands);
	for (const struct pq_node *x = n->first; x != NULL && rc == ERR_OK; x = x->next, inside.index++) {
		struct slice v = SLICE_NONE;

		rc = value_at(b, x, &inside, &v);
		if (rc == ERR_OK)
			buf_put_slice(&to, v);
	}
	if (rc == ERR_OK)
		return keep(b, &to, out);
	buf_release(&to);
	return rc;
}

static enum err key_of(struct pq_binder *b, const struct pq_node *n, const struct place *where)
{
	static const char *const kinds[] = { [PQ_NUMBER] = "INT", [PQ_TRUE] = "BOOL", [PQ_FALSE] = "BOOL", [PQ_NULL] = "NULL",
		[PQ_LIST] = "Seq", [PQ_BAG] = "Seq", [PQ_TUPLE] = "Struct" };
	const char *kind = NULL;

	if (n->kind == PQ_STRING)
		return n->text.n != 0 ? ERR_OK : fault_set(b->f, MSG_PQ_EMPTY_PATH);
	if (n->kind < sizeof kinds / sizeof *kinds)
		kind = kinds[n->kind];
	return fault_set(b->f, MSG_PQ_KEY_TYPE, kind != NULL ? kind : kind_name(n, b->arena), place_text(b, where),
		pq_position(b->text, n->at, n->n, b->arena));
}

/* fields: each value is a root of its own, as in the item of an INSERT. */
static enum err add_fields(struct pq_binder *b, const struct pq_node *n, const struct place *where, bool fields,
	struct map_builder *m)
{
	for (const struct pq_node *name = n->first; name != NULL; name = name->next->next) {
		struct place inside = { .outer = where, .name = name->text, .depth = where->depth + 1 };
		struct slice v = SLICE_NONE;
		enum err rc = key_of(b, name, where);

		for (uint32_t i = 0; i < m->n && rc == ERR_OK; i++)
			if (slice_eq(m->pair[i].name, name->text))
				return fault_set(b->f, MSG_PQ_KEY_TWICE, SLICE_FMT(name->text), place_text(b, where),
					pq_position(b->text, name->at, name->n, b->arena));
		if (rc == ERR_OK && fields)
			rc = pq_value(b, name->next, &v);
		else if (rc == ERR_OK)
			rc = value_at(b, name->next, &inside, &v);
		if (rc != ERR_OK)
			return rc;
		map_builder_add(m, name->text, v);
	}
	return ERR_OK;
}

static enum err map_value(struct pq_binder *b, const struct pq_node *n, const struct place *where, bool fields,
	struct slice *out)
{
	struct map_builder m;
	enum err rc;
	struct buf to;

	map_builder_init(&m, b->arena);
	rc = add_fields(b, n, where, fields, &m);
	if (rc != ERR_OK)
		return rc;
	buf_init(&to);
	if (!map_put(&m, &to))
		to.failed = true;
	return keep(b, &to, out);
}

/* "[x, x]", as they were written. */
static struct slice members_text(struct pq_binder *b, const struct pq_node *n)
{
	struct slice s = SLICE_NONE;
	struct buf text;

	buf_init(&text);
	for (const struct pq_node *x = n->first; x != NULL; x = x->next)
		buf_printf(&text, "%s%.*s", x != n->first ? ", " : "", SLICE_FMT(x->text));
	if (!text.failed)
		s = arena_copy(b->arena, buf_slice(&text));
	buf_release(&text);
	return s;
}

static enum err duplicates(struct pq_binder *b, const struct pq_node *n, const struct place *where)
{
	struct slice text = members_text(b, n);

	if (n->first->kind == PQ_STRING)
		return fault_set(b->f, MSG_VALUE_DUPLICATE_SS, SLICE_FMT(text));
	return fault_set(b->f, MSG_PQ_DUPLICATE_NS, SLICE_FMT(text), place_text(b, where));
}

/* A bag is a set of strings or of numbers. */
static enum err set_value(struct pq_binder *b, const struct pq_node *n, const struct place *where, struct slice *out)
{
	struct slice *member = arena_alloc(b->arena, (n->operands + 1) * sizeof *member);
	uint32_t count = 0;
	struct buf to;
	bool unique;

	if (n->operands == 0)
		return fault_set(b->f, MSG_PQ_EMPTY_BAG);
	if (member == NULL)
		return fault_set(b->f, MSG_NO_MEMORY);
	for (const struct pq_node *x = n->first; x != NULL; x = x->next) {
		enum err rc;

		if ((x->kind != PQ_STRING && x->kind != PQ_NUMBER) || x->kind != n->first->kind)
			return fault_set(b->f, MSG_PQ_BAG_TYPE);
		rc = value_at(b, x, where, &member[count++]);
		if (rc != ERR_OK)
			return rc;
	}
	buf_init(&to);
	unique = set_put(&to, n->first->kind == PQ_STRING ? VALUE_EXT_SS : VALUE_EXT_NS, member, count);
	if (unique || to.failed)
		return keep(b, &to, out);
	buf_release(&to);
	return duplicates(b, n, where);
}

/* ---- any value ---- */

static enum err scalar_value(struct pq_binder *b, const struct pq_node *n, struct slice *out)
{
	struct buf to;

	buf_init(&to);
	if (n->kind == PQ_STRING)
		value_put_string(&to, n->text);
	else if (n->kind == PQ_NULL)
		value_put_null(&to);
	else
		value_put_bool(&to, n->kind == PQ_TRUE);
	return keep(b, &to, out);
}

static enum err value_at(struct pq_binder *b, const struct pq_node *n, const struct place *where, struct slice *out)
{
	if (where->depth >= VALUE_DEPTH_MAX)
		return fault_set(b->f, MSG_PQ_DEEP, place_text(b, where));
	switch (n->kind) {
	case PQ_STRING:
	case PQ_NULL:
	case PQ_TRUE:
	case PQ_FALSE:
		return scalar_value(b, n, out);
	case PQ_NUMBER:
		return number_value(b, n, where, out);
	case PQ_LIST:
		return list_value(b, n, where, out);
	case PQ_BAG:
		return set_value(b, n, where, out);
	case PQ_TUPLE:
		return map_value(b, n, where, false, out);
	default:
		return unsupported(b, n, where);
	}
}

bool pq_is_literal(const struct pq_node *n)
{
	return n->kind <= PQ_PARAMETER ? n->kind != PQ_MISSING : n->kind == PQ_LIST || n->kind == PQ_BAG || n->kind == PQ_TUPLE;
}

enum err pq_value(struct pq_binder *b, const struct pq_node *n, struct slice *out)
{
	static const struct place root;

	if (n->kind != PQ_PARAMETER)
		return value_at(b, n, &root, out);
	*out = n->value;
	return ERR_OK;
}

enum err pq_item(struct pq_binder *b, const struct pq_node *n, struct slice *out)
{
	static const struct place root;

	if (n->kind == PQ_TUPLE)
		return map_value(b, n, &root, true, out);
	return fault_set(b->f, MSG_PQ_ITEM, pq_position(b->text, n->at, n->n, b->arena));
}
