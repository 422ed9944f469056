/* frame - the msgpack protocol's unit on a TCP connection. PROTOCOL.md is its specification.
 *
 *    0        4        8    9    10     12         16
 *    +--------+--------+----+----+------+----------+---------------- - -
 *    | length |   id   |kind|code|flags | deadline | body (msgpack)
 *    +--------+--------+----+----+------+----------+---------------- - -
 *      u32 BE   u32 BE   u8   u8   u16BE   u32 BE     length - 12 bytes
 *
 * length counts the bytes after itself. A client may send many requests without waiting; answers carry the
 * request's id and come in any order.
 *
 * F1. Bytes may come in any pieces: frame_next takes a frame whole or leaves everything as it was.
 * F2. A length below the header's or beyond the limit, or an unknown kind, is bad as soon as its bytes are there; no
 *     peer can make the receiver wait for, or allocate, more than the limit.
 *
 * Threads: pure functions. */
#ifndef DYNAX_PROTOCOL_FRAME_H
#define DYNAX_PROTOCOL_FRAME_H

#include "protocol/buf.h"
#include "protocol/err.h"

enum { FRAME_HEADER = 16, FRAME_MAX = 17 * 1024 * 1024, FRAME_VERSION = 1 };

enum frame_kind {
	FRAME_HELLO = 1,     /* client first, then server: {0: version, 1: features, 2: max frame bytes, 3: software} */
	FRAME_REQUEST = 2,   /* code = enum op; deadline in ms from arrival, 0 = none; body = request record */
	FRAME_ANSWER = 3,    /* code = enum frame_cache; body = answer record */
	FRAME_ERROR = 4,     /* code = enum err; body {0: type, 1: text, 2: detail record (optional)} */
	FRAME_PUSH = 5,      /* from the server, id = subscription; body depends on it (change stream) */
	FRAME_PING = 6,      /* answered by FRAME_PONG with the same id and body */
	FRAME_PONG = 7
};

/* Where an answer came from; also the value of x-dynax-cache. */
enum frame_cache { FRAME_CACHE_NONE, FRAME_CACHE_HIT, FRAME_CACHE_MISS, FRAME_CACHE_BYPASS };

struct frame {
	uint32_t id;
	uint8_t kind, code;
	uint16_t flags;
	uint32_t deadline_ms;
	struct slice body;   /* borrows the input */
};

enum frame_status { FRAME_READY, FRAME_NEED_MORE, FRAME_BAD };

/* Take one frame off the front of `in`. On FRAME_READY `in` has advanced; otherwise nothing has changed, so that
 * calling again with more bytes is always safe. `max` limits the whole frame, header included. `need`, if not NULL, is set
 * on FRAME_NEED_MORE to the size of the whole frame as far as is known (at least FRAME_HEADER). */
enum frame_status frame_next(struct slice *in, size_t max, struct frame *out, size_t *need);

/* Begin a frame on b and return where it began; after its body was appended, frame_end sets the length. */
size_t frame_begin(struct buf *b, enum frame_kind kind, uint8_t code, uint32_t id);
void frame_end(struct buf *b, size_t at);
/* The same if so many bytes of its body are not on b, but will be sent after it. */
void frame_end_before(struct buf *b, size_t at, size_t more);
/* Of a request frame that was begun at `at`: milliseconds from its arrival, 0 = none. */
void frame_set_deadline(struct buf *b, size_t at, uint32_t ms);

void frame_put_error(struct buf *b, uint32_t id, const struct fault *f);
/* Read the body of a FRAME_ERROR; text and detail are copied into f->arena. A code from a newer peer becomes
 * ERR_INTERNAL. False if it is not an error's body, or if out of memory. */
bool frame_read_error(const struct frame *fr, struct fault *f) __attribute__((warn_unused_result));

/* What each side says of itself, first of all. */
enum frame_feature { FRAME_FEATURE_PUSH = 1 << 0 };    /* can send, or wants to receive, FRAME_PUSH */
struct hello {
	uint32_t version;        /* newest it speaks; a server answers with the one that will be spoken */
	uint64_t features;       /* of enum frame_feature, 63 bits; what both sides have is in force */
	uint32_t max_frame;      /* longest frame it takes, in bytes with the header */
	struct slice software;   /* "dynaxd/0.1.0"; borrows the input */
};
/* Append a whole HELLO frame. */
void frame_put_hello(struct buf *b, const struct hello *h);
/* Members that are missing are 0, unknown ones are passed over. False if the body is damaged or has no version. */
bool frame_read_hello(const struct frame *fr, struct hello *h) __attribute__((warn_unused_result));

#endif
