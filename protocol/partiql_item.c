/* partiql_item - the one item that a write, or a read of one, is about: its key, and the condition on it.
 *
 *    UPDATE   the item is there, and the WHERE holds       DELETE   it is missing, or the WHERE holds
 *    INSERT   it is missing                                EXISTS   the WHERE holds */
#include "protocol/partiql_int.h"

struct pick {
	const struct key_schema *ks;
	enum statement_pick how;
	struct pq_binder *b;
	struct slice hash, range;
	bool more;                      /* other conditions */
	bool conflict;
	struct fault *f;
};

static enum err pick_value(struct pick *k, struct slice name, const struct pq_node *v, bool *taken)
{
	bool hash;
	const struct key_attr *attr = pq_key_attr(k->ks, name, &hash);
	struct slice *to = hash ? &k->hash : &k->range, value;
	enum err rc;

	*taken = false;
	if (attr == NULL)
		return ERR_OK;
	rc = pq_value(k->b, v, &value);
	if (rc != ERR_OK)
		return rc;
	*taken = true;
	if (!slice_present(*to)) {
		*to = value;
	} else if (!value_eq(*to, value)) {
		k->conflict = true;
		*taken = k->how != PICK_EXISTS;
		if (k->how == PICK_WRITE)
			return fault_set(k->f, MSG_PQ_KEY_MANY, SLICE_FMT(name));
	}
	return ERR_OK;
}

static enum err pick_from(struct pick *k, const struct pq_node *n)
{
	const struct pq_node *v = pq_in_values(n);
	struct pq_term t;
	bool taken = false;
	enum err rc = ERR_OK;

	if (n->kind == PQ_AND) {
		rc = pick_from(k, n->first);
		return rc == ERR_OK ? pick_from(k, n->first->next) : rc;
	}
	if (v != NULL && v->next == NULL && k->how == PICK_READ)
		rc = pick_value(k, n->first->path.step[0].name, v, &taken);
	else if (pq_term_of(n, &t) && t.op == KEY_OP_EQ)
		rc = pick_value(k, t.name, t.lo, &taken);
	k->more |= !taken;
	return rc;
}

enum err statement_key(const struct statement *s, const struct key_schema *ks, enum statement_pick how, struct slice *key,
	bool *more, struct fault *f)
{
	struct pq_binder b = { .text = s->text, .arena = s->arena, .f = f };
	struct pick k = { .ks = ks, .how = how, .b = &b, .f = f };
	enum err rc = s->where_node != NULL ? pick_from(&k, s->where_node) : ERR_OK;
	bool whole = slice_present(k.hash) && (ks->ranges == 0 || slice_present(k.range));

	*key = SLICE_NONE;
	*more = k.more;
	if (rc != ERR_OK)
		return rc;
	if (how == PICK_READ && (!whole || k.more || k.conflict))
		return ERR_OK;
	if (!whole)
		return how == PICK_EXISTS ? fault_set(f, MSG_PQ_EXISTS) : fault_set(f, MSG_PQ_KEY_INCOMPLETE);
	*key = pq_make_key(ks, k.hash, k.range, s->arena);
	return slice_present(*key) ? ERR_OK : fault_set(f, MSG_NO_MEMORY);
}

bool statement_key_fits(const struct key_schema *ks, struct slice key)
{
	if (value_type(map_get(key, ks->hash[0].name)) != ks->hash[0].type)
		return false;
	return ks->ranges == 0 || value_type(map_get(key, ks->range[0].name)) == ks->range[0].type;
}

/* ---- the condition of a write ---- */

static void copy_where(const struct statement *s, struct cond_builder *c)
{
	uint32_t shift = c->n;

	/* Jumps of the WHERE go as far as before, from where it now stands. */
	for (uint32_t i = 0; s->where != NULL && i < s->where->n; i++) {
		const struct cond_step *step = &s->where->step[i];

		if (step->kind == COND_TEST) {
			cond_test(c, (enum op_code)step->op, step->operand, step->operands);
		} else if (step->kind == COND_NOT) {
			cond_not(c);
		} else {
			uint32_t jump = cond_jump(c, (enum cond_kind)step->kind);

			if (!c->failed)
				c->step[jump].target = step->target + shift;
		}
	}
}

enum err statement_condition(const struct statement *s, struct slice hash_name, bool more, struct condition **out,
	struct fault *f)
{
	bool update = s->kind == STATEMENT_UPDATE, missing = s->kind == STATEMENT_INSERT || s->kind == STATEMENT_DELETE;
	struct operand *arg = arena_zalloc(s->arena, sizeof *arg);
	struct path_step *step = arena_zalloc(s->arena, sizeof *step);
	struct cond_builder c;
	uint32_t jump;

	*out = NULL;
	if (arg == NULL || step == NULL)
		return fault_set(f, MSG_NO_MEMORY);
	if (s->kind == STATEMENT_DELETE && !more)
		return ERR_OK;
	step->name = hash_name;
	*arg = (struct operand){ .kind = OPERAND_PATH, .path = { step, 1 } };
	cond_init(&c, s->arena);
	if (update || missing)
		cond_test(&c, update ? EXPR_EXISTS : EXPR_NOT_EXISTS, arg, 1);
	if (more) {
		jump = update || missing ? cond_jump(&c, update ? COND_IF_FALSE : COND_IF_TRUE) : 0;
		copy_where(s, &c);
		if (update || missing)
			cond_land(&c, jump);
	}
	*out = cond_finish(&c);
	return *out != NULL ? ERR_OK : fault_set(f, MSG_NO_MEMORY);
}
