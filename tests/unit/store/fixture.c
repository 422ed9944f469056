/* fixture - see fixture.h. */
#include "tests/unit/store/fixture.h"

#include <criterion/criterion.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "protocol/json.h"

struct fixture {
	struct store_opts opts;
	struct store *store;
	struct store_reader *reader;
	struct json_reader *json;
	struct arena arena;
	struct buf record, text;
	pthread_mutex_t lock;
	pthread_cond_t answered;
	bool done;
};

static void open_store(struct fixture *fx)
{
	struct fault f;

	fault_init(&f, &fx->arena);
	cr_assert_eq(store_open(&fx->opts, &fx->store, &f), ERR_OK, "store_open: %s", f.text);
	fx->reader = store_reader_new(fx->store);
	cr_assert_not_null(fx->reader);
}

struct fixture *fixture_with(const struct store_opts *o)
{
	struct fixture *fx = calloc(1, sizeof *fx);

	cr_assert_not_null(fx);
	fx->opts = *o;
	fx->json = json_reader_new();
	arena_init(&fx->arena, 0);
	buf_init(&fx->record);
	buf_init(&fx->text);
	pthread_mutex_init(&fx->lock, NULL);
	pthread_cond_init(&fx->answered, NULL);
	open_store(fx);
	return fx;
}

struct fixture *fixture_new(const char *dir)
{
	return fixture_with(&(struct store_opts){ .engine.dir = dir });
}

static void close_store(struct fixture *fx)
{
	store_reader_free(&fx->reader);
	store_close(&fx->store);
}

void fixture_free(struct fixture *fx)
{
	close_store(fx);
	json_reader_free(&fx->json);
	arena_release(&fx->arena);
	buf_release(&fx->record);
	buf_release(&fx->text);
	pthread_mutex_destroy(&fx->lock);
	pthread_cond_destroy(&fx->answered);
	free(fx);
}

void fixture_reopen(struct fixture *fx)
{
	close_store(fx);
	open_store(fx);
}

struct store *fixture_store(struct fixture *fx)
{
	return fx->store;
}

struct store_reader *fixture_reader(struct fixture *fx)
{
	return fx->reader;
}

/* ---- running operations ---- */

static void answered(struct store_write *w)
{
	struct fixture *fx = w->arg;

	pthread_mutex_lock(&fx->lock);
	fx->done = true;
	pthread_cond_signal(&fx->answered);
	pthread_mutex_unlock(&fx->lock);
}

static enum err run_write(struct fixture *fx, const struct request *req, struct fault *f)
{
	struct store_write w = { .req = req, .out = &fx->record, .done = answered, .arg = fx };
	enum err rc = store_prepare(fx->reader, &w);

	if (rc == ERR_OK) {
		/* Nothing that the writer needs may be the reader's. */
		store_reader_quiesce(fx->reader);
		fx->done = false;
		store_submit(fx->store, &w);
		pthread_mutex_lock(&fx->lock);
		while (!fx->done)
			pthread_cond_wait(&fx->answered, &fx->lock);
		pthread_mutex_unlock(&fx->lock);
		rc = w.result;
	}
	*f = w.fault;
	return rc;
}

static enum err run_get(struct fixture *fx, const struct request *req, struct fault *f)
{
	const struct table *t = store_table(fx->reader, record_str(&req->in, GetItemInput_TableName));
	struct slice item;
	uint64_t hash;
	unsigned n = 0;

	cr_assert_not_null(t);
	enum err rc = store_check_key(t, req->in.m[GetItemInput_Key], &hash, f);

	if (rc == ERR_OK)
		rc = store_read(fx->reader, t, req->in.m[GetItemInput_Key], hash,
			record_bool(&req->in, GetItemInput_ConsistentRead) ? READ_STRONG : READ_EVENTUAL, &item, f);
	if (rc != ERR_OK)
		return rc;
	size_t at = record_begin(&fx->record);

	if (slice_present(item)) {
		record_key(&fx->record, &n, GetItemOutput_Item);
		buf_put_slice(&fx->record, item);
	}
	record_end(&fx->record, at, n);
	return ERR_OK;
}

static enum err run_read(struct fixture *fx, const struct request *req, struct fault *f)
{
	struct store_query q;

	if (req->op == OP_GetItem)
		return run_get(fx, req, f);
	enum err rc = store_query_prepare(fx->reader, req, &q, f);

	if (rc != ERR_OK)
		return rc;
	rc = store_query_run(fx->reader, req, &q, &fx->record, f);
	store_query_end(&q);
	return rc;
}

static enum err run_request(struct fixture *fx, const struct request *req, struct fault *f)
{
	switch (op_info[req->op].kind) {
	case OP_READ:
		return run_read(fx, req, f);
	case OP_DESCRIBE:
		return store_describe(fx->reader, req, &fx->record, f);
	case OP_WRITE:
	case OP_CONTROL:
		return run_write(fx, req, f);
	}
	return ERR_INTERNAL;
}

struct outcome run(struct fixture *fx, const char *name, const char *json)
{
	enum op op = op_by_name(slice_str(name));
	struct request req;
	struct fault f;

	cr_assert_neq(op, OP_COUNT, "no operation %s", name);
	arena_reset(&fx->arena);
	buf_clear(&fx->record);
	buf_clear(&fx->text);
	fault_init(&f, &fx->arena);
	char *body = arena_printf(&fx->arena, "%s", json);

	for (char *p = body; *p != '\0'; p++)
		if (*p == '\'')
			*p = '"';
	enum err rc = json_read_request(fx->json, op, slice_str(body), &fx->arena, &req, &f);

	if (rc == ERR_OK)
		rc = run_request(fx, &req, &f);
	if (rc == ERR_OK)
		json_write(&fx->text, op_info[op].out, buf_slice(&fx->record));
	else
		json_write_fault(&fx->text, &f);
	buf_put_u8(&fx->text, 0);
	store_reader_release(fx->reader);
	store_reader_quiesce(fx->reader);
	return (struct outcome){ rc, rc != ERR_OK ? f.text : NULL, (const char *)fx->text.p };
}

void ok_at(struct fixture *fx, const char *op, const char *json, const char *answer, const char *file, int line)
{
	struct outcome o = run(fx, op, json);

	cr_assert_eq(o.code, ERR_OK, "%s:%d: %s: %s", file, line, op, o.json);
	if (answer == NULL)
		return;
	char *want = strdup(answer);

	for (char *p = want; *p != '\0'; p++)
		if (*p == '\'')
			*p = '"';
	cr_assert_str_eq(o.json, want, "%s:%d: %s:\n got %s\nwant %s", file, line, op, o.json, want);
	free(want);
}

void fails_at(struct fixture *fx, const char *op, const char *json, enum err code, const char *text, const char *file, int line)
{
	struct outcome o = run(fx, op, json);

	cr_assert_eq(o.code, code, "%s:%d: %s: got %s %s", file, line, op, err_type(o.code), o.json);
	if (text != NULL)
		cr_assert_str_eq(o.text, text, "%s:%d: %s:\n got %s\nwant %s", file, line, op, o.text, text);
}
