/* statement - see statement.h: parsing, finding the table, and the writes. */
#include "proxy/statement.h"

#include "protocol/messages.h"
#include "proxy/worker.h"

bool statement_open(struct statement_run *r)
{
	fault_init(&r->fault, &r->call->arena);
	return statement_parse(r->text, r->parameters, &r->call->arena, &r->statement, &r->fault) == ERR_OK;
}

bool statement_values(const struct statement *s, struct slice *out)
{
	struct map_builder m;
	uint32_t n = 0;
	struct mp v;
	struct buf b;

	*out = SLICE_NONE;
	if (!slice_present(s->parameters))
		return true;
	v = mp_open(s->parameters);
	map_builder_init(&m, s->arena);
	for (uint32_t left = mp_array(&v); left > 0; left--, n++) {
		const char *name = arena_printf(s->arena, ":%u", (unsigned)n);

		if (name == NULL)
			return false;
		map_builder_add(&m, slice_str(name), mp_skip(&v));
	}
	buf_init(&b);
	if (map_put(&m, &b) && !b.failed)
		*out = arena_copy(s->arena, buf_slice(&b));
	buf_release(&b);
	return slice_present(*out);
}

struct slice statement_record(struct call *c, struct buf *b)
{
	struct slice out = b->failed ? SLICE_NONE : arena_copy(&c->arena, buf_slice(b));

	buf_release(b);
	return out;
}

static void over(struct statement_run *r)
{
	r->done(r);
}

/* ---- writes ---- */

/* Where the three operations have what they share. */
struct write_members {
	enum op op;
	unsigned condition, values, key_or_item, capacity, returning, on_failure, table;
};
static const struct write_members of_put = { OP_PutItem, PutItemInput_ConditionExpression,
	PutItemInput_ExpressionAttributeValues, PutItemInput_Item, PutItemInput_ReturnConsumedCapacity,
	PutItemInput_ReturnValues, PutItemInput_ReturnValuesOnConditionCheckFailure, PutItemInput_TableName };
static const struct write_members of_update = { OP_UpdateItem, UpdateItemInput_ConditionExpression,
	UpdateItemInput_ExpressionAttributeValues, UpdateItemInput_Key, UpdateItemInput_ReturnConsumedCapacity,
	UpdateItemInput_ReturnValues, UpdateItemInput_ReturnValuesOnConditionCheckFailure, UpdateItemInput_TableName };
static const struct write_members of_delete = { OP_DeleteItem, DeleteItemInput_ConditionExpression,
	DeleteItemInput_ExpressionAttributeValues, DeleteItemInput_Key, DeleteItemInput_ReturnConsumedCapacity,
	DeleteItemInput_ReturnValues, DeleteItemInput_ReturnValuesOnConditionCheckFailure, DeleteItemInput_TableName };

static const char *const return_values[] = { NULL, "ALL_OLD", "UPDATED_OLD", "ALL_NEW", "UPDATED_NEW" };

struct member { unsigned id; struct slice value; bool encoded; };

/* Members in the order of their identifiers. */
static struct slice make_record(struct call *c, struct member *m, unsigned members)
{
	unsigned n = 0;
	struct buf b;
	size_t at;

	for (unsigned i = 1; i < members; i++)
		for (unsigned k = i; k > 0 && m[k - 1].id > m[k].id; k--) {
			struct member t = m[k];

			m[k] = m[k - 1];
			m[k - 1] = t;
		}
	buf_init(&b);
	at = record_begin(&b);
	for (unsigned i = 0; i < members; i++) {
		if (!slice_present(m[i].value))
			continue;
		record_key(&b, &n, m[i].id);
		if (m[i].encoded)
			buf_put_slice(&b, m[i].value);
		else
			mp_put_str(&b, m[i].value);
	}
	record_end(&b, at, n);
	return statement_record(c, &b);
}

/* RETURNING gives one row, or none. */
static enum err keep_row(struct statement_run *r, struct call *c)
{
	struct record out;

	if (!record_open(&out, op_info[c->req.op].out, buf_slice(&c->out)))
		return fault_set(&r->fault, MSG_RECORD_BAD, op_info[c->req.op].name);
	if (record_has(&out, PutItemOutput_Attributes)) {
		r->rows = arena_copy(&r->call->arena, out.m[PutItemOutput_Attributes]);
		r->count = 1;
		if (!slice_present(r->rows))
			return fault_set(&r->fault, MSG_NO_MEMORY);
	}
	if (record_has(&out, PutItemOutput_ConsumedCapacity))
		r->consumed = arena_copy(&r->call->arena, out.m[PutItemOutput_ConsumedCapacity]);
	return ERR_OK;
}

static void write_done(struct child *child)
{
	struct statement_run *r = child->arg;

	if (child->call->fault.code != ERR_OK)
		child_fault(child, &r->call->arena, &r->fault);
	else
		(void)keep_row(r, child->call);
	over(r);
}

static enum err start_write(struct statement_run *r, const struct write_members *w, struct slice key_or_item)
{
	const struct statement *s = r->statement;
	struct slice values, record;

	if (!statement_values(s, &values))
		return fault_set(&r->fault, MSG_NO_MEMORY);
	struct member m[] = {
		{ w->condition, s->text, false }, { w->values, values, true }, { w->key_or_item, key_or_item, true },
		{ w->capacity, r->capacity, false }, { w->returning, slice_str(return_values[s->returning]), false },
		{ w->on_failure, r->old_on_failure ? SLICE_LIT("ALL_OLD") : SLICE_NONE, false }, { w->table, s->table, false },
	};

	record = make_record(r->call, m, sizeof m / sizeof *m);
	if (!slice_present(record))
		return fault_set(&r->fault, MSG_NO_MEMORY);
	r->child = (struct child){ .done = write_done, .arg = r };
	child_run(&r->child, r->call, w->op, record, &r->bound);
	return ERR_OK;
}

static enum err insert(struct statement_run *r, const struct table *t)
{
	enum err rc = statement_condition(r->statement, t->key.hash[0].name, false, &r->bound.condition, &r->fault);

	r->bound.insert = true;
	return rc == ERR_OK ? start_write(r, &of_put, r->statement->item) : rc;
}

static enum err change(struct statement_run *r, const struct table *t)
{
	bool more, update = r->statement->kind == STATEMENT_UPDATE;
	struct slice key;
	enum err rc = statement_key(r->statement, &t->key, PICK_WRITE, &key, &more, &r->fault);

	if (rc == ERR_OK)
		rc = statement_condition(r->statement, t->key.hash[0].name, more, &r->bound.condition, &r->fault);
	if (rc != ERR_OK)
		return rc;
	r->bound.update = r->statement->update;
	return start_write(r, update ? &of_update : &of_delete, key);
}

/* ---- any statement ---- */

void statement_run(struct statement_run *r)
{
	struct worker *w = r->call->worker;
	const struct statement *s = r->statement;
	const struct table *t;
	enum err rc = ERR_OK;

	if (s->kind == STATEMENT_EXISTS) {
		fault_set(&r->fault, MSG_PQ_EXISTS_ALONE);
		over(r);
		return;
	}
	t = w->backend->ops->table(w->reader, s->table);
	if (t == NULL) {
		fault_set(&r->fault, MSG_TABLE_UNKNOWN);
		over(r);
		return;
	}
	r->table = arena_copy(&r->call->arena, t->name);
	if (s->kind == STATEMENT_SELECT) {
		statement_select(r, t);
		return;
	}
	r->cache = FRAME_CACHE_NONE;
	r->ran = true;
	rc = s->kind == STATEMENT_INSERT ? insert(r, t) : change(r, t);
	if (rc != ERR_OK)
		over(r);
}
