/* wire - see wire.h. */
#include "protocol/client/wire.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <unistd.h>

#include "protocol/messages.h"

enum {
	READ_BYTES = 16 * 1024,      /* room for one read, at least */
	READS_A_TURN = 16,           /* so that a fast server cannot hold the owner's loop */
	KEEP_BYTES = 256 * 1024,     /* an idle wire gives larger buffers back */
	SLOTS_FIRST = 16
};

void wire_init(struct wire *w)
{
	*w = (struct wire){ .fd = -1, .next_id = 1 };
	buf_init(&w->out);
	buf_init(&w->in);
}

void wire_release(struct wire *w)
{
	wire_close(w);
	buf_release(&w->out);
	buf_release(&w->in);
	free(w->slot);
	w->slot = NULL;
}

/* ---- exchanges by id ---- */

static bool slots_grow(struct wire *w)
{
	uint32_t slots = w->slots != 0 ? w->slots * 2 : SLOTS_FIRST;
	struct exchange **slot = calloc(slots, sizeof(*slot));

	if (slot == NULL)
		return false;
	/* Ids that differ modulo the old size differ modulo twice that. */
	for (uint32_t i = 0; i < w->slots; i++)
		if (w->slot[i] != NULL)
			slot[w->slot[i]->id & (slots - 1)] = w->slot[i];
	free(w->slot);
	w->slot = slot;
	w->slots = slots;
	return true;
}

/* An id whose slot is free; 0 if out of memory. */
static uint32_t id_take(struct wire *w, struct exchange *x)
{
	if (w->taken >= w->slots / 2 && !slots_grow(w))
		return 0;
	while (w->next_id == 0 || w->slot[w->next_id & (w->slots - 1)] != NULL)
		w->next_id++;
	w->slot[w->next_id & (w->slots - 1)] = x;
	w->taken++;
	return w->next_id++;
}

static struct exchange *id_give(struct wire *w, uint32_t id)
{
	struct exchange *x = w->slots != 0 ? w->slot[id & (w->slots - 1)] : NULL;

	if (x == NULL || x->id != id)
		return NULL;
	w->slot[id & (w->slots - 1)] = NULL;
	w->taken--;
	return x;
}

void wire_drop(struct wire *w, struct exchange *x)
{
	struct exchange *there = id_give(w, x->id);

	/* Another exchange may own the id by now. */
	if (there != NULL && there != x) {
		w->slot[x->id & (w->slots - 1)] = there;
		w->taken++;
	}
}

/* ---- opening and closing ---- */

enum err wire_connect(struct wire *w, const struct sockaddr *to, socklen_t len, struct fault *f)
{
	struct hello h = { FRAME_VERSION, 0, FRAME_MAX, SLICE_LIT("libdynax/" DYNAX_VERSION) };
	int one = 1;

	w->fd = socket(to->sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (w->fd < 0)
		return fault_set(f, ERR_NETWORK, "socket: %s", strerror(errno));
	setsockopt(w->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	if (connect(w->fd, to, len) != 0 && errno != EINPROGRESS) {
		fault_set(f, ERR_NETWORK, "connect: %s", strerror(errno));
		close(w->fd);
		w->fd = -1;
		return ERR_NETWORK;
	}
	buf_clear(&w->out);
	buf_clear(&w->in);
	w->out_at = w->in_at = 0;
	w->in_need = FRAME_HEADER;
	w->sent = 0;
	w->peer_max = FRAME_MAX;
	w->farewell = false;
	w->state = WIRE_CONNECTING;
	frame_put_hello(&w->out, &h);
	return w->out.failed ? fault_set(f, ERR_NO_MEMORY, "out of memory") : ERR_OK;
}

/* Exchanges may be sent again from done(), on this very wire if it was connected again: so they are taken out first. */
void wire_close(struct wire *w)
{
	struct exchange **slot = w->slot;
	uint32_t slots = w->slots;

	if (w->fd >= 0)
		close(w->fd);
	w->fd = -1;
	w->state = WIRE_CLOSED;
	w->slot = NULL;
	w->slots = w->taken = 0;
	for (uint32_t i = 0; i < slots; i++) {
		if (slot[i] != NULL) {
			slot[i]->unsent = w->farewell || slot[i]->at >= w->sent;
			slot[i]->done(slot[i], NULL);
		}
	}
	free(slot);
}

const char *wire_late(const struct wire *w)
{
	return w->state == WIRE_CONNECTING ? "no connection in time" : "no greeting in time: is it the msgpack port of a dynaxd?";
}

/* ---- sending ---- */

enum err wire_send(struct wire *w, struct exchange *x, enum frame_kind kind, uint8_t code, struct slice body,
	uint32_t deadline_ms, struct fault *f)
{
	size_t before = w->out.n, at;

	if (body.n + FRAME_HEADER > w->peer_max)
		return fault_set(f, ERR_REQUEST_TOO_LARGE, "the request has %zu bytes, the server takes %u",
			body.n + FRAME_HEADER, (unsigned)w->peer_max);
	x->id = id_take(w, x);
	if (x->id == 0)
		return fault_set(f, ERR_NO_MEMORY, "out of memory");
	x->at = w->sent + (w->out.n - w->out_at);
	x->unsent = false;
	at = frame_begin(&w->out, kind, code, x->id);
	frame_set_deadline(&w->out, at, deadline_ms);
	buf_put_slice(&w->out, body);
	frame_end(&w->out, at);
	if (w->out.failed) {
		w->out.n = before;
		w->out.failed = false;
		id_give(w, x->id);
		return fault_set(f, ERR_NO_MEMORY, "out of memory");
	}
	return ERR_OK;
}

bool wire_wants_write(const struct wire *w)
{
	return w->state == WIRE_CONNECTING || w->out_at < w->out.n;
}

static void shrink(struct buf *b)
{
	if (b->cap > KEEP_BYTES)
		buf_release(b);
	buf_clear(b);
}

static enum err lost(struct fault *f, const char *what, int error)
{
	return fault_set(f, ERR_NETWORK, "%s: %s", what, strerror(error));
}

/* Give up what was sent, once it is no less than what waits: so a byte is moved once at most for each that is sent. */
static void drop_sent(struct wire *w)
{
	size_t left = w->out.n - w->out_at;

	if (w->out_at < left)
		return;
	memmove(w->out.p, w->out.p + w->out_at, left);
	w->out.n = left;
	w->out_at = 0;
}

static enum err write_some(struct wire *w, struct fault *f)
{
	while (w->out_at < w->out.n) {
		ssize_t n = send(w->fd, w->out.p + w->out_at, w->out.n - w->out_at, MSG_NOSIGNAL);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno != EAGAIN)
			return lost(f, "send", errno);
		if (n < 0) {
			drop_sent(w);
			return ERR_OK;
		}
		w->out_at += (size_t)n;
		w->sent += (uint64_t)n;
	}
	shrink(&w->out);
	w->out_at = 0;
	return ERR_OK;
}

/* ---- receiving ---- */

#define NO_GREETING "no greeting in dynax's protocol: is it the msgpack port of a dynaxd?"

static enum err greeted(struct wire *w, const struct frame *fr, struct fault *f)
{
	struct hello h;

	if (fr->kind == FRAME_ERROR) {
		if (!frame_read_error(fr, f))
			fault_set(f, ERR_FRAME, "the server refuses the connection");
		return f->code;
	}
	if (fr->kind != FRAME_HELLO || !frame_read_hello(fr, &h))
		return fault_set(f, ERR_FRAME, NO_GREETING);
	if (h.version != FRAME_VERSION)
		return fault_set(f, MSG_FRAME_VERSION, (unsigned)h.version, (unsigned)FRAME_VERSION);
	if (h.max_frame != 0 && h.max_frame < w->peer_max)
		w->peer_max = h.max_frame;
	w->state = WIRE_READY;
	return ERR_OK;
}

static enum err pong(struct wire *w, const struct frame *fr, struct fault *f)
{
	size_t at = frame_begin(&w->out, FRAME_PONG, 0, fr->id);

	buf_put_slice(&w->out, fr->body);
	frame_end(&w->out, at);
	return w->out.failed ? fault_set(f, ERR_NO_MEMORY, "out of memory") : ERR_OK;
}

static enum err take(struct wire *w, const struct frame *fr, struct fault *f)
{
	struct exchange *x;

	if (w->state == WIRE_GREETING)
		return greeted(w, fr, f);
	switch ((enum frame_kind)fr->kind) {
	case FRAME_ERROR:
		if (fr->id == 0) {
			if (!frame_read_error(fr, f))
				fault_set(f, MSG_FRAME_BAD);
			w->farewell = f->code == ERR_UNAVAILABLE;
			return f->code;
		}
		/* fall through */
	case FRAME_ANSWER:
	case FRAME_PONG:
		x = id_give(w, fr->id);
		if (x != NULL)
			x->done(x, fr);
		return ERR_OK;
	case FRAME_PING:
		return pong(w, fr, f);
	case FRAME_PUSH:
		return ERR_OK;
	case FRAME_HELLO:
	case FRAME_REQUEST:
		break;
	}
	return fault_set(f, MSG_FRAME_UNEXPECTED, (unsigned)fr->kind);
}

/* Take all whole frames out of `in`. */
static enum err take_all(struct wire *w, struct fault *f)
{
	struct slice rest = slice_of(w->in.p + w->in_at, w->in.n - w->in_at);
	struct frame fr;
	enum frame_status st;
	enum err e = ERR_OK;

	w->in_need = FRAME_HEADER;
	while (e == ERR_OK && (st = frame_next(&rest, FRAME_MAX, &fr, &w->in_need)) != FRAME_NEED_MORE)
		if (st == FRAME_READY)
			e = take(w, &fr, f);
		else if (w->state == WIRE_GREETING)
			e = fault_set(f, ERR_FRAME, NO_GREETING);
		else
			e = fault_set(f, MSG_FRAME_BAD);
	w->in_at = w->in.n - rest.n;
	if (rest.n == 0) {
		shrink(&w->in);
		w->in_at = 0;
	}
	return e;
}

/* Room for the frame that has begun, or for a good read; consumed bytes in front are given up first. */
static size_t room(struct wire *w)
{
	size_t have = w->in.n - w->in_at;
	size_t want = w->in_need > have + READ_BYTES ? w->in_need - have : READ_BYTES;

	if (w->in_at > 0 && w->in.n + want > w->in.cap) {
		memmove(w->in.p, w->in.p + w->in_at, have);
		w->in.n = have;
		w->in_at = 0;
	}
	if (buf_reserve(&w->in, want) == NULL)
		return 0;
	return w->in.cap - w->in.n;
}

static enum err read_some(struct wire *w, struct fault *f)
{
	enum err e = ERR_OK;

	for (int i = 0; i < READS_A_TURN && e == ERR_OK; i++) {
		size_t n = room(w);
		ssize_t got;

		if (n == 0)
			return fault_set(f, ERR_NO_MEMORY, "out of memory");
		got = recv(w->fd, w->in.p + w->in.n, n, 0);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return errno == EAGAIN ? ERR_OK : lost(f, "receive", errno);
		if (got == 0)
			return fault_set(f, ERR_NETWORK, "the server closed the connection");
		w->in.n += (size_t)got;
		e = take_all(w, f);
		if ((size_t)got < n)
			break;
	}
	return e;
}

static enum err connected(struct wire *w, struct fault *f)
{
	struct sockaddr_storage peer;
	socklen_t len = sizeof(int), peer_len = sizeof(peer);
	int error = 0;

	if (getsockopt(w->fd, SOL_SOCKET, SO_ERROR, &error, &len) != 0)
		error = errno;
	if (error != 0)
		return lost(f, "connect", error);
	if (getpeername(w->fd, (struct sockaddr *)&peer, &peer_len) != 0)
		return errno == ENOTCONN ? ERR_OK : lost(f, "connect", errno);
	w->state = WIRE_GREETING;
	return ERR_OK;
}

/* Sending failed: answers, or a refusal, that had arrived before still count. */
static enum err last_words(struct wire *w, struct fault *f)
{
	struct fault why;

	fault_init(&why, f->arena);
	if (read_some(w, &why) != ERR_OK && why.code != ERR_NETWORK)
		*f = why;
	return f->code;
}

enum err wire_turn(struct wire *w, struct fault *f)
{
	enum err e = ERR_OK;

	if (w->state == WIRE_CONNECTING) {
		e = connected(w, f);
		if (e != ERR_OK || w->state == WIRE_CONNECTING)
			return e;
	}
	e = write_some(w, f);
	if (e != ERR_OK)
		return last_words(w, f);
	e = read_some(w, f);
	/* Answers to what ended just now, and to pings, go out in the same turn. */
	if (e == ERR_OK && wire_wants_write(w))
		e = write_some(w, f);
	return e;
}
