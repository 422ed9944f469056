/* eviction - hit ratios of the caches' eviction (proxy/eviction.c) on traces, beside LRU and the optimum.
 *
 *    build/bench/eviction [DIRECTORY]
 *
 * DIRECTORY holds INDEX.tsv (name, ...; a heading line), NAME.u32 (little-endian key ids, one a request) and perhaps NAME.sz
 * (their sizes in bytes). Without it, three generated traces are replayed. Each trace runs with room for 1, 5 and 20 % of
 * its keys, all of one size; traces with sizes once more, with room for 1, 5 and 20 % of the bytes of its keys.
 *
 * The optimum is Belady's: the entry whose next use is farthest goes, or the new one is not taken at all. With sizes that is no
 * longer the optimum; a farthest-next-use-times-size rule stands in for it, which comes close from below.
 *
 * The last lines give the mean, over the cells where the optimum is at least half a point above LRU, of the share of that gap
 * that is closed, and the worst difference to LRU. */
#include "proxy/eviction.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { UNIT = 1024, PATH = 512 };

struct trace {
	char name[64];
	uint32_t *key;       /* 0 .. keys-1, one a request */
	uint32_t *size;      /* of each request's key; NULL = all UNIT */
	size_t n, keys;
};

static void *must(void *p)
{
	if (p == NULL) {
		fputs("eviction: out of memory\n", stderr);
		exit(1);
	}
	return p;
}

static uint32_t size_at(const struct trace *t, size_t i, bool sized)
{
	return sized ? t->size[i] : UNIT;
}

/* ---- the policies: each returns the share of requests that hit ---- */

static uint64_t mix(uint64_t x)
{
	x = (x ^ (x >> 31)) * 0x7FB5D329728EA185u;
	x = (x ^ (x >> 27)) * 0x81DADEF4BC2DD44Du;
	return x ^ (x >> 33);
}

static double run_ours(const struct trace *t, uint64_t room, bool sized)
{
	struct eviction_node *node = must(calloc(t->keys, sizeof(*node))), *victim;
	bool *in = must(calloc(t->keys, sizeof(*in)));
	struct eviction v;
	size_t hits = 0;

	eviction_init(&v, room);
	for (size_t i = 0; i < t->n; i++) {
		uint32_t k = t->key[i];

		if (in[k]) {
			hits++;
			eviction_touch(&node[k]);
			continue;
		}
		node[k].hash = mix(k + 1);
		node[k].bytes = size_at(t, i, sized);
		if (node[k].bytes > room)
			continue;
		eviction_add(&v, &node[k]);
		in[k] = true;
		while (eviction_bytes(&v) > room) {
			victim = eviction_victim(&v);
			in[victim - node] = false;
		}
	}
	eviction_release(&v);
	free(node);
	free(in);
	return (double)hits / (double)t->n;
}

struct lru_node {
	uint32_t newer, older, bytes;
	bool in;
};

static void lru_unlink(struct lru_node *l, uint32_t k)
{
	l[l[k].newer].older = l[k].older;
	l[l[k].older].newer = l[k].newer;
}

static void lru_push(struct lru_node *l, uint32_t head, uint32_t k)
{
	l[k].newer = head;
	l[k].older = l[head].older;
	l[l[k].older].newer = k;
	l[head].older = k;
}

static double run_lru(const struct trace *t, uint64_t room, bool sized)
{
	struct lru_node *l = must(calloc(t->keys + 1, sizeof(*l)));
	uint32_t head = (uint32_t)t->keys;
	uint64_t used = 0;
	size_t hits = 0;

	l[head].newer = l[head].older = head;
	for (size_t i = 0; i < t->n; i++) {
		uint32_t k = t->key[i];

		if (l[k].in) {
			hits++;
			lru_unlink(l, k);
			lru_push(l, head, k);
			continue;
		}
		l[k].bytes = size_at(t, i, sized);
		if (l[k].bytes > room)
			continue;
		lru_push(l, head, k);
		l[k].in = true;
		for (used += l[k].bytes; used > room; used -= l[k].bytes) {
			k = l[head].newer;      /* around the ring: the oldest */
			lru_unlink(l, k);
			l[k].in = false;
		}
	}
	free(l);
	return (double)hits / (double)t->n;
}

/* A heap of (cost, key), dearest first; stale ones are skipped when they come up. */
struct heap_item {
	double cost;
	uint32_t key;
};

static void heap_push(struct heap_item *h, size_t *n, struct heap_item x)
{
	size_t i = (*n)++;

	for (; i > 0 && h[(i - 1) / 2].cost < x.cost; i = (i - 1) / 2)
		h[i] = h[(i - 1) / 2];
	h[i] = x;
}

static struct heap_item heap_pop(struct heap_item *h, size_t *n)
{
	struct heap_item top = h[0], x = h[--*n];
	size_t i = 0;

	for (size_t c; (c = 2 * i + 1) < *n; i = c) {
		if (c + 1 < *n && h[c + 1].cost > h[c].cost)
			c++;
		if (h[c].cost <= x.cost)
			break;
		h[i] = h[c];
	}
	h[i] = x;
	return top;
}

/* For each request, when its key is asked for next; SIZE_MAX = never. */
static size_t *next_uses(const struct trace *t)
{
	size_t *next = must(malloc(t->n * sizeof(*next))), *last = must(malloc(t->keys * sizeof(*last)));

	memset(last, 0xFF, t->keys * sizeof(*last));
	for (size_t i = t->n; i-- > 0;) {
		next[i] = last[t->key[i]];
		last[t->key[i]] = i;
	}
	free(last);
	return next;
}

static double run_optimum(const struct trace *t, uint64_t room, bool sized)
{
	struct heap_item *heap = must(malloc((t->n + 1) * sizeof(*heap)));
	size_t *next = next_uses(t), n = 0, hits = 0;
	double *cost = must(malloc(t->keys * sizeof(*cost)));    /* of what is in; < 0: it is not */
	uint32_t *bytes = must(calloc(t->keys, sizeof(*bytes)));
	uint64_t used = 0;

	for (size_t k = 0; k < t->keys; k++)
		cost[k] = -1;
	for (size_t i = 0; i < t->n; i++) {
		uint32_t k = t->key[i];

		if (cost[k] >= 0)
			hits++;
		else
			used += bytes[k] = size_at(t, i, sized);
		cost[k] = next[i] == SIZE_MAX ? INFINITY : (double)(next[i] - (sized ? i : 0)) * bytes[k];
		heap_push(heap, &n, (struct heap_item){ cost[k], k });
		while (used > room) {
			struct heap_item x = heap_pop(heap, &n);

			if (cost[x.key] == x.cost && cost[x.key] >= 0) {
				used -= bytes[x.key];
				cost[x.key] = -1;
			}
		}
	}
	free(heap);
	free(next);
	free(cost);
	free(bytes);
	return (double)hits / (double)t->n;
}

/* ---- traces ---- */

static uint32_t *read_words(const char *dir, const char *name, const char *ext, size_t *n)
{
	char path[PATH];
	uint32_t *w = NULL;
	FILE *f;
	long bytes;

	snprintf(path, sizeof(path), "%s/%s.%s", dir, name, ext);
	f = fopen(path, "rb");
	if (f == NULL)
		return NULL;
	if (fseek(f, 0, SEEK_END) == 0 && (bytes = ftell(f)) > 0 && fseek(f, 0, SEEK_SET) == 0) {
		*n = (size_t)bytes / sizeof(*w);
		w = must(malloc(*n * sizeof(*w)));
		if (fread(w, sizeof(*w), *n, f) != *n) {
			free(w);
			w = NULL;
		}
	}
	fclose(f);
	return w;
}

/* Number the keys 0, 1, .. in order of appearance. */
static void renumber(struct trace *t)
{
	size_t cap = 1;
	uint32_t *slot;

	while (cap < t->n * 2)
		cap *= 2;
	slot = must(calloc(cap * 2, sizeof(*slot)));     /* pairs: key, number + 1 */
	t->keys = 0;
	for (size_t i = 0; i < t->n; i++) {
		size_t s = mix(t->key[i]) & (cap - 1);

		while (slot[2 * s + 1] != 0 && slot[2 * s] != t->key[i])
			s = (s + 1) & (cap - 1);
		if (slot[2 * s + 1] == 0) {
			slot[2 * s] = t->key[i];
			slot[2 * s + 1] = (uint32_t)++t->keys;
		}
		t->key[i] = slot[2 * s + 1] - 1;
	}
	free(slot);
}

static bool trace_read(struct trace *t, const char *dir, const char *name)
{
	size_t sizes = 0;

	*t = (struct trace){ .n = 0 };
	snprintf(t->name, sizeof(t->name), "%s", name);
	t->key = read_words(dir, name, "u32", &t->n);
	if (t->key == NULL)
		return false;
	t->size = read_words(dir, name, "sz", &sizes);
	for (size_t i = 0; t->size != NULL && i < sizes; i++)
		if (t->size[i] == 0)
			t->size[i] = 1;
	if (sizes != t->n) {
		free(t->size);
		t->size = NULL;
	}
	renumber(t);
	return true;
}

static uint64_t random_state = 20231023;

static double uniform(void)
{
	random_state += 0x9E3779B97F4A7C15u;
	return (double)(mix(random_state) >> 11) / (double)((uint64_t)1 << 53);
}

/* A draw from 1..n with probabilities about k^-a, a < 1, by inversion. */
static uint32_t zipf(uint32_t n, double a)
{
	return (uint32_t)pow(uniform() * (pow(n, 1 - a) - 1) + 1, 1 / (1 - a)) - 1;
}

/* Popular keys, scans through others, and a loop: what users do, what reports do, what batch jobs do. */
static void trace_make(struct trace *t, const char *name, double scans, double loops)
{
	enum { REQUESTS = 300000, POPULAR = 20000, LOOP = 3000 };
	uint32_t scan = 1u << 30, loop = 0;

	*t = (struct trace){ .n = REQUESTS, .key = must(malloc(REQUESTS * sizeof(*t->key))),
		.size = must(malloc(REQUESTS * sizeof(*t->size))) };
	snprintf(t->name, sizeof(t->name), "%s", name);
	for (size_t i = 0; i < t->n; i++) {
		double u = uniform();

		if (u < scans)
			t->key[i] = scan++;
		else if (u < scans + loops)
			t->key[i] = (1u << 29) + loop++ % LOOP;
		else
			t->key[i] = zipf(POPULAR, 0.9);
		t->size[i] = 100 + (uint32_t)(mix(t->key[i]) % 64) * (uint32_t)(mix(t->key[i] + 7) % 64);
	}
	renumber(t);
}

static void trace_release(struct trace *t)
{
	free(t->key);
	free(t->size);
}

/* ---- the table ---- */

struct total {
	double closed, worst;
	unsigned cells;
};

static uint64_t all_bytes(const struct trace *t, bool sized)
{
	bool *seen = must(calloc(t->keys, sizeof(*seen)));
	uint64_t sum = 0;

	for (size_t i = 0; i < t->n; i++) {
		if (!seen[t->key[i]])
			sum += size_at(t, i, sized);
		seen[t->key[i]] = true;
	}
	free(seen);
	return sum;
}

static void replay(const struct trace *t, bool sized, struct total *total)
{
	static const unsigned percent[] = { 1, 5, 20 };
	uint64_t all = all_bytes(t, sized);

	for (unsigned i = 0; i < sizeof(percent) / sizeof(percent[0]); i++) {
		uint64_t room = all * percent[i] / 100;
		double lru = run_lru(t, room, sized), best = run_optimum(t, room, sized), ours = run_ours(t, room, sized);
		double gap = best - lru;

		printf("%-18s %-6s %3u %%  %7.2f %7.2f %7.2f", t->name, sized ? "bytes" : "count", percent[i], 100 * lru,
			100 * ours, 100 * best);
		if (gap >= 0.005) {
			printf("  %6.1f %%", 100 * (ours - lru) / gap);
			total->closed += (ours - lru) / gap;
			total->cells++;
		}
		putchar('\n');
		if (ours - lru < total->worst)
			total->worst = ours - lru;
	}
}

static void replay_all(const struct trace *t, struct total *count, struct total *bytes)
{
	replay(t, false, count);
	if (t->size != NULL)
		replay(t, true, bytes);
	fflush(stdout);
}

static void summary(const char *what, const struct total *t)
{
	if (t->cells != 0)
		printf("%s: %.1f %% of the gap between LRU and the optimum closed (mean of %u cells); worst against LRU %+.2f points\n",
			what, 100 * t->closed / t->cells, t->cells, 100 * t->worst);
}

static int replay_directory(const char *dir, struct total *count, struct total *bytes)
{
	char path[PATH], line[512], name[64];
	struct trace t;
	FILE *f;

	snprintf(path, sizeof(path), "%s/INDEX.tsv", dir);
	f = fopen(path, "r");
	if (f == NULL) {
		perror(path);
		return 1;
	}
	while (fgets(line, sizeof(line), f) != NULL) {
		if (sscanf(line, "%63[^\t\n]", name) == 1 && trace_read(&t, dir, name)) {
			replay_all(&t, count, bytes);
			trace_release(&t);
		}
	}
	fclose(f);
	return 0;
}

int main(int argc, char **argv)
{
	struct total count = { 0 }, bytes = { 0 };
	struct trace t;

	printf("%-18s %-6s %5s  %7s %7s %7s  %8s\n", "trace", "room", "", "LRU", "ours", "optimum", "gap closed");
	if (argc > 1) {
		if (replay_directory(argv[1], &count, &bytes) != 0)
			return 1;
	} else {
		trace_make(&t, "popular", 0, 0);
		replay_all(&t, &count, &bytes);
		trace_release(&t);
		trace_make(&t, "popular+scans", 0.3, 0);
		replay_all(&t, &count, &bytes);
		trace_release(&t);
		trace_make(&t, "popular+loop", 0.05, 0.3);
		replay_all(&t, &count, &bytes);
		trace_release(&t);
	}
	summary("all of one size", &count);
	summary("sizes as they are", &bytes);
	return 0;
}
