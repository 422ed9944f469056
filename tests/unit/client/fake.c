/* fake - see fake.h. */
#include "tests/unit/client/fake.h"

#include <netinet/in.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

static void put_hello(struct fake_conn *c)
{
	const struct fake *f = c->fake;
	struct hello h = { f->version != 0 ? f->version : FRAME_VERSION, 0, f->max_frame, SLICE_LIT("fake") };

	frame_put_hello(&c->out, &h);
}

static bool flush(struct fake_conn *c)
{
	size_t at = 0;

	while (at < c->out.n) {
		size_t want = c->fake->one_byte ? 1 : c->out.n - at;
		ssize_t n = send(c->fd, c->out.p + at, want, MSG_NOSIGNAL);

		if (n <= 0)
			return false;
		at += (size_t)n;
	}
	buf_clear(&c->out);
	return true;
}

static bool take(struct fake_conn *c, const struct frame *fr)
{
	if (fr->kind == FRAME_HELLO) {
		if (!c->fake->silent)
			put_hello(c);
		return true;
	}
	if (fr->kind == FRAME_PING) {
		size_t at = frame_begin(&c->out, FRAME_PONG, 0, fr->id);

		frame_end(&c->out, at);
		return true;
	}
	fake_serve serve = atomic_load(&c->fake->serve);

	c->seen++;
	atomic_fetch_add(&c->fake->requests, 1);
	return serve(c, fr);
}

static void *conn_main(void *arg)
{
	struct fake_conn *c = arg;
	bool open = true;

	while (open) {
		uint8_t *p = buf_reserve(&c->in, 65536);
		ssize_t n = p != NULL ? recv(c->fd, p, 65536, 0) : 0;
		struct slice in;
		struct frame fr;

		if (n <= 0)
			break;
		c->in.n += (size_t)n;
		in = buf_slice(&c->in);
		while (open && frame_next(&in, FRAME_MAX, &fr, NULL) == FRAME_READY)
			open = take(c, &fr);
		open = flush(c) && open;
		memmove(c->in.p, in.p, in.n);
		c->in.n = in.n;
	}
	close(c->fd);
	buf_release(&c->in);
	buf_release(&c->out);
	free(c);
	return NULL;
}

static void *accept_main(void *arg)
{
	struct fake *f = arg;
	pthread_t t;
	int fd;

	while ((fd = accept(f->listener, NULL, NULL)) >= 0) {
		struct fake_conn *c = calloc(1, sizeof(*c));

		c->fake = f;
		c->fd = fd;
		c->number = atomic_fetch_add(&f->connections, 1) + 1;
		if (pthread_create(&t, NULL, conn_main, c) == 0)
			pthread_detach(t);
	}
	return NULL;
}

void fake_start(struct fake *f)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof(a);
	pthread_t t;

	f->listener = socket(AF_INET, SOCK_STREAM, 0);
	if (bind(f->listener, (struct sockaddr *)&a, sizeof(a)) != 0 || listen(f->listener, 128) != 0)
		abort();
	getsockname(f->listener, (struct sockaddr *)&a, &len);
	snprintf(f->endpoint, sizeof(f->endpoint), "127.0.0.1:%u", ntohs(a.sin_port));
	if (pthread_create(&t, NULL, accept_main, f) == 0)
		pthread_detach(t);
}

void fake_stop(struct fake *f)
{
	shutdown(f->listener, SHUT_RDWR);
}

void fake_answer(struct fake_conn *c, const struct frame *fr)
{
	size_t at = frame_begin(&c->out, FRAME_ANSWER, FRAME_CACHE_HIT, fr->id), rec = record_begin(&c->out);
	struct record in;
	unsigned n = 0;

	if (fr->code == OP_GetItem && record_open(&in, &shape_GetItemInput, fr->body)) {
		record_key(&c->out, &n, GetItemOutput_Item);
		buf_put_slice(&c->out, in.m[GetItemInput_Key]);
	}
	record_end(&c->out, rec, n);
	frame_end(&c->out, at);
}

void fake_error(struct fake_conn *c, const struct frame *fr, enum err code, const char *text, struct slice detail)
{
	struct fault f = { .code = code, .text = text, .detail = detail };

	frame_put_error(&c->out, fr->id, &f);
}

bool fake_serve_all(struct fake_conn *c, const struct frame *fr)
{
	fake_answer(c, fr);
	return true;
}
