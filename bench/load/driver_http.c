/* driver_http - DynamoDB's HTTP/JSON API, of any server. The signature is there, for servers that ask for one, but not a
 * true one. */
#include "bench/load/load_int.h"

#include <ctype.h>
#include <stdlib.h>
#include <strings.h>

#define KEY_JSON "{\"k\":{\"S\":\"################\"}"

static void put_http(struct buf *b, const char *host, const char *target, const struct buf *body)
{
	buf_printf(b, "POST / HTTP/1.1\r\nHost: %s\r\nX-Amz-Target: DynamoDB_20120810.%s\r\n"
		"Content-Type: application/x-amz-json-1.0\r\nX-Amz-Date: 20250101T000000Z\r\n"
		"Authorization: AWS4-HMAC-SHA256 Credential=bench/20250101/us-east-1/dynamodb/aws4_request, "
		"SignedHeaders=host;x-amz-date;x-amz-target, "
		"Signature=0000000000000000000000000000000000000000000000000000000000000000\r\n"
		"Content-Length: %zu\r\n\r\n", host, target, body->n);
	buf_put_slice(b, buf_slice(body));
}

static void make_form(struct form *f, const char *host, const char *target, const struct buf *body)
{
	const char *hole;

	put_http(&f->bytes, host, target, body);
	buf_put_u8(&f->bytes, 0);
	hole = f->bytes.failed ? NULL : strstr((const char *)f->bytes.p, "################");
	f->bytes.n--;
	f->key_at = hole != NULL ? (size_t)((const uint8_t *)hole - f->bytes.p) : FORM_NONE;
	f->id_at = FORM_NONE;
}

static void http_prepare(struct driver_state *s, const struct load_opts *o)
{
	size_t overhead = 1 + KEY_BYTES + 1;
	struct buf body;

	buf_init(&body);
	buf_printf(&body, "{\"TableName\":\"%s\",\"Key\":" KEY_JSON "}}", o->table);
	make_form(&s->read, o->host, "GetItem", &body);
	buf_clear(&body);
	buf_printf(&body, "{\"TableName\":\"%s\",\"Item\":" KEY_JSON ",", o->table);
	if (o->expire != 0)
		buf_printf(&body, "\"t\":{\"N\":\"%lld\"},", (long long)o->expire);
	buf_printf(&body, "\"v\":{\"S\":\"");
	value_put_filler(&body, o->item_bytes > overhead ? o->item_bytes - overhead : 0);
	buf_printf(&body, "\"}}}");
	make_form(&s->write, o->host, "PutItem", &body);
	buf_clear(&body);
	buf_printf(&body, "{\"TableName\":\"%s\",\"BillingMode\":\"PAY_PER_REQUEST\","
		"\"KeySchema\":[{\"AttributeName\":\"k\",\"KeyType\":\"HASH\"}],"
		"\"AttributeDefinitions\":[{\"AttributeName\":\"k\",\"AttributeType\":\"S\"}]}", o->table);
	put_http(&s->setup, o->host, "CreateTable", &body);
	buf_release(&body);
}

/* Value of a header, up to the end of its line; absent if there is none. head ends with an empty line. */
static struct slice header(struct slice head, const char *name)
{
	size_t n = strlen(name);
	const char *p = (const char *)head.p, *end = p + head.n;

	while (p < end) {
		const char *eol = memchr(p, '\n', (size_t)(end - p));

		if (eol == NULL)
			break;
		if ((size_t)(eol - p) > n && strncasecmp(p, name, n) == 0 && p[n] == ':') {
			p += n + 1;
			while (p < eol && isspace((unsigned char)*p))
				p++;
			return slice_of(p, (size_t)(eol - p));
		}
		p = eol + 1;
	}
	return SLICE_NONE;
}

/* Length of a chunked body, its end included; 0 if it is not all there. */
static size_t chunked_length(struct slice in)
{
	size_t at = 0;

	for (;;) {
		const uint8_t *eol = at < in.n ? memchr(in.p + at, '\n', in.n - at) : NULL;
		size_t size;

		if (eol == NULL)
			return 0;
		size = strtoul((const char *)in.p + at, NULL, 16);
		at = (size_t)(eol - in.p) + 1 + size + 2;
		if (at > in.n)
			return 0;
		if (size == 0)
			return at;
	}
}

static enum reply_status http_reply(struct driver_conn *c, struct slice *in, uint32_t *slot, struct slice *text)
{
	const uint8_t *end = memmem(in->p, in->n, "\r\n\r\n", 4);
	struct slice head, body, length;
	bool ok;

	(void)c;
	(void)slot;
	if (end == NULL)
		return REPLY_MORE;
	head = slice_of(in->p, (size_t)(end - in->p) + 2);
	if (head.n < 12 || memcmp(head.p, "HTTP/1.", 7) != 0)
		return REPLY_BAD;
	body = slice_of(end + 4, in->n - head.n - 2);
	length = header(head, "content-length");
	if (slice_present(length)) {
		size_t n = strtoul((const char *)length.p, NULL, 10);

		if (body.n < n)
			return REPLY_MORE;
		body.n = n;
	} else {
		body.n = chunked_length(body);
		if (body.n == 0)
			return REPLY_MORE;
	}
	ok = head.p[9] == '2';
	*in = slice_of(body.p + body.n, in->n - (size_t)(body.p + body.n - in->p));
	*text = body;
	if (!ok)
		return REPLY_ERROR;
	return body.n <= 2 ? REPLY_MISS : REPLY_HIT;
}

const struct driver driver_http = {
	.name = "http", .port = 8000,
	.prepare = http_prepare, .encode = forms_encode, .reply = http_reply,
};
