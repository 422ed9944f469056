/* flight - see flight.h. Few flights are in the air at a time, so a shard is a list. */
#include "proxy/flight.h"

#include "protocol/messages.h"

#include <pthread.h>
#include <stdalign.h>
#include <stdlib.h>

enum { SHARDS = 64 };

struct flight_shard {
	alignas(64) pthread_mutex_t lock;
	struct flight *first;
	uint64_t flying, joined;
};

struct flights {
	struct flight_shard shard[SHARDS];
};

struct flights *flights_new(void)
{
	struct flights *f = aligned_alloc(64, sizeof(*f));

	if (f == NULL)
		return NULL;
	memset(f, 0, sizeof(*f));
	for (unsigned i = 0; i < SHARDS; i++)
		pthread_mutex_init(&f->shard[i].lock, NULL);
	return f;
}

void flights_free(struct flights **f)
{
	if (*f == NULL)
		return;
	for (unsigned i = 0; i < SHARDS; i++)
		pthread_mutex_destroy(&(*f)->shard[i].lock);
	free(*f);
	*f = NULL;
}

static struct flight_shard *shard_of(struct flights *f, uint64_t hash)
{
	return &f->shard[hash >> 48 & (SHARDS - 1)];
}

static struct flight *find(struct flight_shard *s, const struct flight *like)
{
	for (struct flight *x = s->first; x != NULL; x = x->next)
		if (x->hash == like->hash && x->space == like->space && x->epoch == like->epoch &&
		    slice_eq(x->key, like->key))
			return x;
	return NULL;
}

static void link_flight(struct flight_shard *s, struct flight *own)
{
	own->next = s->first;
	own->prev = &s->first;
	if (own->next != NULL)
		own->next->prev = &own->next;
	s->first = own;
	s->flying++;
}

static void unlink_flight(struct flight_shard *s, struct flight *own)
{
	*own->prev = own->next;
	if (own->next != NULL)
		own->next->prev = own->prev;
	s->flying--;
}

bool flight_join(struct flights *f, uint64_t space, struct slice key, uint64_t hash, uint64_t epoch, struct flight *own,
	struct flight_waiter *w)
{
	struct flight_shard *s = shard_of(f, hash);
	struct flight *other;

	*own = (struct flight){ .space = space, .hash = hash, .epoch = epoch, .key = key };
	pthread_mutex_lock(&s->lock);
	other = find(s, own);
	if (other != NULL) {
		w->result = NULL;
		w->next = other->waiters;
		other->waiters = w;
		s->joined++;
	} else {
		link_flight(s, own);
	}
	pthread_mutex_unlock(&s->lock);
	return other == NULL;
}

static struct flight_result *result_new(enum err e, const struct fault *fault, struct slice value, unsigned refs)
{
	struct slice bytes = e == ERR_OK ? value : slice_str(fault->text != NULL ? fault->text : "");
	struct slice detail = e == ERR_OK ? SLICE_NONE : fault->detail;
	struct flight_result *r = malloc(sizeof(*r) + bytes.n + 1 + detail.n);

	if (r == NULL)
		return NULL;
	atomic_init(&r->refs, refs);
	r->err = e;
	r->absent = !slice_present(bytes);
	r->n = bytes.n;
	r->detail_n = detail.n;
	if (bytes.n != 0)
		memcpy(r->bytes, bytes.p, bytes.n);
	r->bytes[bytes.n] = '\0';
	if (detail.n != 0)
		memcpy(r->bytes + bytes.n + 1, detail.p, detail.n);
	return r;
}

enum err flight_result_fault(const struct flight_result *r, struct fault *f)
{
	if (r == NULL)
		return fault_set(f, MSG_NO_MEMORY);
	if (r->err == ERR_OK)
		return ERR_OK;
	fault_set(f, r->err, "%s", (const char *)r->bytes);
	if (r->detail_n != 0)
		f->detail = arena_copy(f->arena, slice_of(r->bytes + r->n + 1, r->detail_n));
	return r->err;
}

void flight_land(struct flights *f, struct flight *own, enum err e, const struct fault *fault, struct slice value)
{
	struct flight_shard *s = shard_of(f, own->hash);
	struct flight_result *r;
	struct flight_waiter *w, *next;
	unsigned n = 0;

	pthread_mutex_lock(&s->lock);
	unlink_flight(s, own);
	pthread_mutex_unlock(&s->lock);
	for (w = own->waiters; w != NULL; w = w->next)
		n++;
	if (n == 0)
		return;
	r = result_new(e, fault, value, n);
	for (w = own->waiters; w != NULL; w = next) {
		next = w->next;       /* once woken, w is its owner's again */
		w->result = r;
		w->wake(w);
	}
}

struct slice flight_result_value(const struct flight_result *r)
{
	return r->absent ? SLICE_NONE : slice_of(r->bytes, r->n);
}

void flight_result_unref(struct flight_result **r)
{
	/* The last one frees: it must see what the others did with it as done. */
	if (*r != NULL && atomic_fetch_sub_explicit(&(*r)->refs, 1, memory_order_acq_rel) == 1)
		free(*r);
	*r = NULL;
}

void flights_stats(struct flights *f, uint64_t *flying, uint64_t *joined)
{
	*flying = *joined = 0;
	for (unsigned i = 0; i < SHARDS; i++) {
		pthread_mutex_lock(&f->shard[i].lock);
		*flying += f->shard[i].flying;
		*joined += f->shard[i].joined;
		pthread_mutex_unlock(&f->shard[i].lock);
	}
}
