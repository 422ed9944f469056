/* query_support - see query_support.h. */
#include "tests/unit/store/query_support.h"

#include <criterion/criterion.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "protocol/json.h"
#include "store/store.h"

static struct store *store;
static struct store_reader *reader;
static struct json_reader *json;
static struct buf answer;
static bool failed;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t over = PTHREAD_COND_INITIALIZER;
static bool is_over;

void session_open(void)
{
	struct store_opts o = { .engine.overlay_bytes = 64 << 20 };
	struct fault f = { 0 };

	cr_assert_eq(store_open(&o, &store, &f), ERR_OK, "%s", f.text);
	reader = store_reader_new(store);
	json = json_reader_new();
	cr_assert(reader != NULL && json != NULL);
}

void session_close(void)
{
	json_reader_free(&json);
	store_reader_free(&reader);
	store_close(&store);
	buf_release(&answer);
}

static void done(struct store_write *w)
{
	(void)w;
	pthread_mutex_lock(&lock);
	is_over = true;
	pthread_cond_signal(&over);
	pthread_mutex_unlock(&lock);
}

static enum err write_and_wait(const struct request *req, struct buf *out, struct fault *f)
{
	struct store_write w = { .req = req, .out = out, .fault = *f, .done = done };
	enum err rc = store_prepare(reader, &w);

	if (rc == ERR_OK) {
		is_over = false;
		store_submit(store, &w);
		pthread_mutex_lock(&lock);
		while (!is_over)
			pthread_cond_wait(&over, &lock);
		pthread_mutex_unlock(&lock);
		rc = w.result;
	}
	*f = w.fault;
	return rc;
}

static enum err read_page(const struct request *req, struct buf *out, struct fault *f)
{
	struct store_query q;
	enum err rc = store_query_prepare(reader, req, &q, f);

	if (rc != ERR_OK)
		return rc;
	rc = store_query_run(reader, req, &q, out, f);
	store_query_end(&q);
	return rc;
}

static enum err carry_out(struct request *req, struct buf *out, struct fault *f)
{
	switch (op_info[req->op].kind) {
	case OP_READ:
		return read_page(req, out, f);
	case OP_DESCRIBE:
		return store_describe(reader, req, out, f);
	default:
		return write_and_wait(req, out, f);
	}
}

const char *ask(enum op op, const char *body)
{
	struct request req;
	struct arena a;
	struct fault f;
	struct buf out;
	enum err rc;

	arena_init(&a, 0);
	fault_init(&f, &a);
	buf_init(&out);
	buf_clear(&answer);
	rc = json_read_request(json, op, slice_str(body), &a, &req, &f);
	if (rc == ERR_OK)
		rc = carry_out(&req, &out, &f);
	failed = rc != ERR_OK;
	if (failed) {
		buf_printf(&answer, "%s: %s", err_type(rc), f.text != NULL ? f.text : "?");
		cr_assert_eq(out.n, 0, "an error leaves no answer behind");
	} else {
		struct record r;

		cr_assert(record_open(&r, op_info[op].out, buf_slice(&out)), "%s: no canonical answer", body);
		cr_assert_eq(record_check(op_info[op].out, buf_slice(&out), &f), ERR_OK, "%s", f.text);
		json_write(&answer, op_info[op].out, buf_slice(&out));
	}
	buf_put_u8(&answer, 0);
	cr_assert(!answer.failed);
	store_reader_release(reader);
	store_reader_quiesce(reader);
	buf_release(&out);
	arena_release(&a);
	return (const char *)answer.p;
}

const char *must(enum op op, const char *body)
{
	const char *got = ask(op, body);

	cr_assert(!failed, "%.300s -> %s", body, got);
	return got;
}

static char *format_body(const char *format, va_list args)
{
	char *body = NULL;

	cr_assert_geq(vasprintf(&body, format, args), 0);
	return body;
}

const char *askf(enum op op, const char *format, ...)
{
	const char *got;
	va_list args;
	char *body;

	va_start(args, format);
	body = format_body(format, args);
	va_end(args);
	got = ask(op, body);
	free(body);
	return got;
}

const char *mustf(enum op op, const char *format, ...)
{
	const char *got;
	va_list args;
	char *body;

	va_start(args, format);
	body = format_body(format, args);
	va_end(args);
	got = must(op, body);
	free(body);
	return got;
}
