/* http_answer - see http_answer.h. The body first, since the head tells its length; headers in one order. */
#include "proxy/http_answer.h"

#include <http_parser.h>
#include <libdeflate.h>

#include "protocol/json.h"
#include "proxy/conn.h"
#include "proxy/worker.h"

#define PUT(b, literal) buf_put(b, literal, sizeof(literal) - 1)

static const char amz_json[] = "application/x-amz-json-1.0";

static const char *reason(int status)
{
	switch (status) {
#define X(num, name, string) \
	case num: \
		return #string;
		HTTP_STATUS_MAP(X)
#undef X
	default:
		return "Unknown";
	}
}

/* buf_printf costs more than all the rest of a head. */
static void put_number(struct buf *b, uint64_t v)
{
	char digit[20];
	size_t n = sizeof(digit);

	do
		digit[--n] = (char)('0' + v % 10);
	while ((v /= 10) != 0);
	buf_put(b, digit + n, sizeof(digit) - n);
}

static void put_text(struct buf *b, const char *s)
{
	buf_put(b, s, strlen(s));
}

static void put_header(struct buf *b, const char *name, struct slice value)
{
	put_text(b, name);
	buf_put_slice(b, value);
	PUT(b, "\r\n");
}

static void put_status(struct buf *b, int status)
{
	if (status == 200) {
		PUT(b, "HTTP/1.1 200 OK\r\n");
		return;
	}
	PUT(b, "HTTP/1.1 ");
	put_number(b, (uint64_t)status);
	PUT(b, " ");
	put_text(b, reason(status));
	PUT(b, "\r\n");
}

static void put_cache(struct buf *b, enum frame_cache from)
{
	static const char *const line[] = { "", "x-dynax-cache: hit\r\n", "x-dynax-cache: miss\r\n", "x-dynax-cache: bypass\r\n" };

	put_text(b, line[from]);
}

static void put_cors(struct buf *b, const struct http_answer *a)
{
	if (!a->cors)
		return;
	PUT(b, "Access-Control-Allow-Origin: *\r\n"
	       "Access-Control-Expose-Headers: x-amzn-RequestId,x-amzn-ErrorType,x-amzn-ErrorMessage,x-amz-crc32,"
	       "x-dynax-cache,Date\r\n");
	if (!a->preflight)
		return;
	if (slice_present(a->allow_headers))
		put_header(b, "Access-Control-Allow-Headers: ", a->allow_headers);
	if (slice_present(a->allow_method))
		put_header(b, "Access-Control-Allow-Methods: ", a->allow_method);
	PUT(b, "Access-Control-Max-Age: 172800\r\n");
}

/* Not zlib's: that one takes five times as long, which shows in the cost of a cached read. */
static uint32_t crc_of(struct slice body)
{
	return libdeflate_crc32(0, body.p, body.n);
}

static void put_head(struct worker *w, const struct http_answer *a, int status, enum frame_cache from, enum coding coding,
	struct slice body, uint32_t crc, struct buf *b)
{
	char id[REQUEST_ID];

	put_status(b, status);
	PUT(b, "Server: dynax\r\n");
	worker_request_id(w, id);
	put_header(b, "x-amzn-RequestId: ", slice_of(id, sizeof(id)));
	PUT(b, "x-amz-crc32: ");
	put_number(b, crc);
	PUT(b, "\r\n");
	put_cache(b, from);
	put_header(b, "Content-Type: ", slice_str(a->type != NULL ? a->type : a->plain_json ? "application/json" : amz_json));
	if (coding != CODING_NONE)
		put_header(b, "Content-Encoding: ", slice_str(coding_name(coding)));
	PUT(b, "Content-Length: ");
	put_number(b, body.n);
	PUT(b, "\r\nDate: ");
	buf_put(b, worker_date(w), 29);
	PUT(b, "\r\n");
	if (a->close || w->draining)
		PUT(b, "Connection: close\r\n");
	else if (a->old_keep_alive)
		PUT(b, "Connection: keep-alive\r\n");
	put_cors(b, a);
	PUT(b, "\r\n");
}

/* The body as text; returns the status. */
static int put_body(struct call *c, const struct http_answer *a, struct buf *body)
{
	const struct shape *shape;

	if (a->status != 0) {
		buf_put_slice(body, a->text);
		return a->status;
	}
	if (c->fault.code != ERR_OK) {
		json_write_fault(body, &c->fault);
		return err_http_status(c->fault.code);
	}
	shape = op_info[c->req.op].out;
	if (shape->members > 0) /* else the service sends an empty body, not {} */
		json_write(body, shape, buf_slice(&c->out));
	return 200;
}

void http_answer_make(struct call *c, struct http_answer *a)
{
	struct buf coded;

	buf_init(&a->body);
	buf_init(&coded);
	(void)put_body(c, a, &a->body); /* a long answer is a success */
	buf_release(&c->out);           /* here, since that takes its time as well */
	if (a->coding != CODING_NONE && coding_encode(a->coding, buf_slice(&a->body), &coded)) {
		buf_release(&a->body);
		a->body = coded;
		a->body_coding = a->coding;
	} else {
		buf_release(&coded);
	}
	a->crc = crc_of(buf_slice(&a->body));
	a->made = true;
}

void http_answer_release(struct http_answer *a)
{
	if (a->made)
		buf_release(&a->body);
	a->made = false;
}

static void write_made(struct call *c, struct http_answer *a)
{
	put_head(c->worker, a, 200, c->cache, a->body_coding, buf_slice(&a->body), a->crc, conn_output(c->conn));
	if (!a->head_only)
		conn_output_take(c->conn, &a->body);
}

/* Head and body, in the coding that was asked for. */
static void put_answer(struct worker *w, const struct http_answer *a, int status, enum frame_cache from, struct buf *body,
	struct buf *out)
{
	enum coding coding = CODING_NONE;
	struct slice sent = buf_slice(body);
	struct buf coded;

	buf_init(&coded);
	if (a->coding != CODING_NONE && body->n >= HTTP_CODING_MIN && coding_encode(a->coding, sent, &coded)) {
		coding = a->coding;
		sent = buf_slice(&coded);
	}
	if (body->failed) {
		out->failed = true; /* the connection ends: a status would be a lie */
	} else {
		put_head(w, a, status, from, coding, sent, crc_of(sent), out);
		if (!a->head_only)
			buf_put_slice(out, sent);
	}
	buf_release(&coded);
}

void http_answer_write(struct call *c, struct http_answer *a)
{
	struct buf body;
	int status;

	if (a->made) {
		write_made(c, a);
		return;
	}
	body = worker_borrow_buf(c->worker);
	status = put_body(c, a, &body);
	put_answer(c->worker, a, status, c->cache, &body, conn_output(c->conn));
	worker_return_buf(c->worker, &body);
}

void http_answer_hit(struct worker *w, const struct http_answer *a, enum op op, struct slice record, struct buf *out)
{
	struct buf body = worker_borrow_buf(w);

	json_write(&body, op_info[op].out, record);
	put_answer(w, a, 200, FRAME_CACHE_HIT, &body, out);
	worker_return_buf(w, &body);
}
