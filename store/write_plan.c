/* write_plan - what all writes do on the worker: find their prepare, bind their expressions, make their key bytes. */
#include "store/write_plan.h"

#include "protocol/expr_legacy.h"
#include "protocol/messages.h"
#include "store/check_key.h"
#include "store/keycode.h"
#include "store/params.h"
#include "store/write_txn.h"

static write_prepare *const prepare_of[OP_COUNT] = {
	[OP_PutItem] = put_item_prepare,
	[OP_DeleteItem] = delete_item_prepare,
	[OP_UpdateItem] = update_item_prepare,
	[OP_BatchWriteItem] = batch_write_prepare,
	[OP_TransactWriteItems] = transact_write_prepare,
	[OP_CreateTable] = create_table_prepare,
	[OP_DeleteTable] = delete_table_prepare,
	[OP_UpdateTable] = update_table_prepare,
	[OP_UpdateTimeToLive] = update_ttl_prepare,
	[OP_TagResource] = tag_resource_prepare,
	[OP_UntagResource] = untag_resource_prepare,
	[OP_RegisterScalableTarget] = register_target_prepare,
	[OP_DeregisterScalableTarget] = deregister_target_prepare,
	[OP_PutScalingPolicy] = put_policy_prepare,
	[OP_DeleteScalingPolicy] = delete_policy_prepare,
};

enum err store_prepare(struct store_reader *r, struct store_write *w)
{
	struct arena *a = w->req->arena;

	fault_init(&w->fault, a);
	w->next = NULL;
	w->plan = arena_zalloc(a, sizeof *w->plan);
	if (w->plan == NULL)
		return w->result = fault_set(&w->fault, MSG_NO_MEMORY);
	w->result = prepare_of[w->req->op] == NULL ? fault_set(&w->fault, MSG_NOT_SUPPORTED, op_info[w->req->op].name)
		: request_check(w->req, &w->fault);
	if (w->result == ERR_OK)
		w->result = prepare_of[w->req->op](r, w);
	if (w->result != ERR_OK)
		write_plan_release(w->plan);
	return w->result;
}

void store_forgo(struct store_write *w)
{
	write_plan_release(w->plan);
}

void write_plan_release(struct write_plan *p)
{
	for (; p->exprs != NULL; p->exprs = p->exprs->next)
		expr_unref(&p->exprs->expr);
}

enum err write_plan_ops(struct store_write *w, unsigned n)
{
	w->plan->op = arena_zalloc(w->req->arena, n * sizeof *w->plan->op);
	w->plan->ops = n;
	return w->plan->op != NULL ? ERR_OK : fault_set(&w->fault, MSG_NO_MEMORY);
}

/* ---- expressions ---- */

static enum err parse(struct store_reader *r, struct store_write *w, enum expr_kind kind, struct slice text,
	struct expr **out, struct fault *f)
{
	struct expr_hold *h = arena_zalloc(w->req->arena, sizeof *h);

	if (h == NULL)
		return fault_set(f, MSG_NO_MEMORY);
	enum err rc = expr_cache_parse(r->exprs, kind, text, out, f);

	if (rc != ERR_OK)
		return rc;
	*h = (struct expr_hold){ *out, w->plan->exprs };
	w->plan->exprs = h;
	return ERR_OK;
}

static struct slice member(const struct record *in, uint32_t id)
{
	return id != PARAMS_END ? in->m[id] : SLICE_NONE;
}

static struct slice text_of(const struct record *in, uint32_t id)
{
	return id != PARAMS_END ? record_str(in, id) : SLICE_NONE;
}

static enum err bind_legacy(struct store_write *w, const struct record *in, const struct op_params *p,
	struct item_op *op, struct fault *f)
{
	struct slice updates = member(in, p->attribute_updates), expected = member(in, p->expected);
	struct slice operator = text_of(in, p->conditional_operator);
	enum err rc = request_check_values(w->req, VALUES_EXPECTED, f);

	if (rc == ERR_OK && slice_present(operator) && !slice_present(expected))
		return fault_set(f, MSG_OPERATOR_WITHOUT_EXPECTED);
	if (rc == ERR_OK && slice_present(updates))
		rc = legacy_updates(updates, w->req->arena, &op->update, f);
	if (rc == ERR_OK && slice_present(expected))
		rc = legacy_expected(expected, operator, w->req->arena, &op->condition, f);
	return rc;
}

static enum err take_bound(const struct bound *b, struct item_op *op)
{
	op->condition = b->condition;
	op->update = b->update;
	op->insert = b->insert;
	return ERR_OK;
}

enum err write_bind(struct store_reader *r, struct store_write *w, const struct record *in, const struct op_params *p,
	struct item_op *op, struct fault *f)
{
	struct slice condition = text_of(in, p->condition), update = text_of(in, p->update);
	struct expr_env env;
	struct expr *e;

	if (w->req->bound != NULL)
		return take_bound(&w->req->bound[op - w->plan->op], op);
	if (!slice_present(condition) && !slice_present(update))
		return bind_legacy(w, in, p, op, f);
	enum err rc = expr_env_init(&env, member(in, p->names), member(in, p->values), true, w->req->arena, f);

	if (rc == ERR_OK)
		rc = request_check_values(w->req, VALUES_EXPRESSION, f);
	if (rc == ERR_OK && slice_present(update)) {
		rc = parse(r, w, EXPR_UPDATE, update, &e, f);
		if (rc == ERR_OK)
			rc = update_bind(e, &env, &op->update, f);
	}
	if (rc == ERR_OK && slice_present(condition)) {
		rc = parse(r, w, EXPR_CONDITION, condition, &e, f);
		if (rc == ERR_OK)
			rc = condition_bind(e, &env, &op->condition, f);
	}
	return rc == ERR_OK ? expr_env_unused(&env, f) : rc;
}

/* ---- table and key ---- */

enum err write_address(struct store_write *w, const struct table *t, struct slice key_or_item, uint64_t hash,
	struct item_op *op, struct fault *f)
{
	struct arena *a = w->req->arena;
	struct buf b;

	if (store_check_paths(t, NULL, op->condition, f) != ERR_OK)
		return f->code;
	op->table = t->id;
	op->hash = hash;
	op->key = op->kind == ITEM_PUT ? check_key_of(t, key_or_item, a) : key_or_item;
	if (!slice_present(op->key))
		return fault_set(f, MSG_NO_MEMORY);
	buf_init(&b);
	bool made = keycode_hashed(&b, t->id, &t->key, op->key, hash) && !b.failed;

	op->ekey = made ? arena_copy(a, buf_slice(&b)) : SLICE_NONE;
	buf_release(&b);
	return slice_present(op->ekey) ? ERR_OK : fault_set(f, MSG_NO_MEMORY);
}

/* ---- answers ---- */

enum err write_end(struct write_txn *t, struct store_write *w, enum err rc)
{
	if (rc == ERR_OK && w->out->failed)
		rc = fault_set(&w->fault, MSG_NO_MEMORY);
	return write_txn_end(t, rc, &w->fault);
}
