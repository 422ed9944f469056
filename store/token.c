/* token - see token.h. Old tokens leave with later transactions, a few at a time, found by the time they end. */
#include "store/token.h"

#include <xxhash.h>

#include "protocol/messages.h"
#include "store/big_endian.h"

enum { TOKEN_MAX = 36 * 4, DIGEST_BYTES = 16, TIME_BYTES = 8, VALUE_BYTES = DIGEST_BYTES + TIME_BYTES,
	X_KEY_MAX = 5 + TOKEN_MAX, Y_KEY_MAX = 5 + TIME_BYTES + TOKEN_MAX, PURGE_AT_ONCE = 64 };
#define TOKEN_LIFE_MS UINT64_C(600000)
#define PURGE_EVERY_MS UINT64_C(1000)

/* The constraint on its length has been checked: 36 characters, of four bytes at most. */
static struct slice x_key(struct slice token, uint8_t out[X_KEY_MAX])
{
	size_t n = token.n < TOKEN_MAX ? token.n : TOKEN_MAX;

	memcpy(out, "\0\0\0\0x", 5);
	memcpy(out + 5, token.p, n);
	return slice_of(out, 5 + n);
}

static struct slice y_key(uint64_t end_ms, struct slice token, uint8_t out[Y_KEY_MAX])
{
	size_t n = token.n < TOKEN_MAX ? token.n : TOKEN_MAX;

	memcpy(out, "\0\0\0\0y", 5);
	be_put(out + 5, end_ms, TIME_BYTES);
	if (n != 0)
		memcpy(out + 5 + TIME_BYTES, token.p, n);
	return slice_of(out, 5 + TIME_BYTES + n);
}

static void digest(struct slice actions, uint8_t out[DIGEST_BYTES])
{
	XXH128_canonical_t c;

	XXH128_canonicalFromHash(&c, XXH3_128bits(actions.p, actions.n));
	memcpy(out, c.digest, DIGEST_BYTES);
}

enum err token_look(struct store *s, struct slice token, struct slice actions, enum token_status *status, struct fault *f)
{
	uint8_t key[X_KEY_MAX], d[DIGEST_BYTES];
	struct slice v;
	enum err rc = engine_read(s->engine, x_key(token, key), &v, f);

	if (rc != ERR_OK)
		return rc;
	*status = TOKEN_NEW;
	if (v.n != VALUE_BYTES || be_get(v.p + DIGEST_BYTES, TIME_BYTES) <= store_now_ms(s))
		return ERR_OK;
	digest(actions, d);
	*status = memcmp(v.p, d, DIGEST_BYTES) == 0 ? TOKEN_REPLAY : TOKEN_MISMATCH;
	return ERR_OK;
}

/* Delete what the cursor yields: tokens that are over. One used again since lives on under its newer end. */
static void purge_from(struct write_txn *t, struct cursor *c, uint64_t now)
{
	struct engine *e = t->batch->store->engine;
	uint8_t key[X_KEY_MAX];
	struct slice y, v, x;

	for (unsigned i = 0; i < PURGE_AT_ONCE; i++) {
		if (cursor_next(c, &y, &v, NULL) != ERR_OK || !slice_present(y) || y.n < 5 + TIME_BYTES)
			return;
		struct slice token = slice_of(y.p + 5 + TIME_BYTES, y.n - 5 - TIME_BYTES);

		if (engine_read(e, x_key(token, key), &x, NULL) == ERR_OK && x.n == VALUE_BYTES
		    && be_get(x.p + DIGEST_BYTES, TIME_BYTES) <= now)
			engine_del(e, x_key(token, key));
		engine_del(e, y);
	}
}

static void purge(struct write_txn *t, uint64_t now)
{
	struct store *s = t->batch->store;
	uint8_t from[Y_KEY_MAX], to[Y_KEY_MAX];
	struct view *v = NULL;
	struct cursor *c = NULL;

	if (now < s->tokens_purged_ms + PURGE_EVERY_MS)
		return;
	/* A purge that fails is tried again: nothing depends on it but space. */
	if (view_open(s->engine, &v, NULL) != ERR_OK)
		return;
	if (cursor_open(v, y_key(0, SLICE_NONE, from), y_key(now, SLICE_NONE, to), false, &c, NULL) == ERR_OK) {
		purge_from(t, c, now);
		cursor_close(&c);
	}
	view_close(&v);
	s->tokens_purged_ms = now;
}

void token_keep(struct write_txn *t, struct slice token, struct slice actions)
{
	struct engine *e = t->batch->store->engine;
	uint8_t x[X_KEY_MAX], y[Y_KEY_MAX], value[VALUE_BYTES];
	uint64_t now = store_now_ms(t->batch->store);

	purge(t, now);
	digest(actions, value);
	be_put(value + DIGEST_BYTES, now + TOKEN_LIFE_MS, TIME_BYTES);
	engine_put(e, x_key(token, x), slice_of(value, sizeof value));
	engine_put(e, y_key(now + TOKEN_LIFE_MS, token, y), slice_of(NULL, 0));
}
