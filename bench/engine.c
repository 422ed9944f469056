/* bench/engine - durable puts of 1-KB values into a table of a million keys, the engine beside plain LMDB.
 *
 * Both get the same keys in batches of C (C = clients with one request outstanding each), and answer a batch when it
 * is on disk. They run in turn, in the same directory's file system, in one process each.
 *
 *    build/bench/engine [-d DIR] [-k KEYS] [-n BURST] [-t SECONDS] [-r ROUNDS] [-m burst,uniform,zipf] [-c 1,64,256]
 *                        [-s lmdb,engine] [-o OVERLAY_MB]
 *
 * burst: BURST puts, uniform keys (C = 1: a tenth of them). uniform, zipf: for SECONDS, C = 256.
 * CPU is the whole process's, checkpointer included. Ratios are engine / LMDB. */
#include <errno.h>
#include <fcntl.h>
#include <lmdb.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "store/engine/engine.h"

enum { VALUE = 1024, KEY = 24 };

struct args {
	const char *dir, *modes, *clients, *stores;
	uint64_t keys, burst;
	unsigned seconds, rounds;
};

struct result {
	uint64_t ops;
	double seconds, cpu_us, p50_ms, p99_ms, max_ms;
	double log_mb, overlay_mb, rss_mb, stall_s;
};

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static double cpu(void)
{
	struct rusage u;

	getrusage(RUSAGE_SELF, &u);
	return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
		(double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e6;
}

static void die(const char *what, const char *why)
{
	fprintf(stderr, "%s: %s\n", what, why != NULL ? why : strerror(errno));
	exit(1);
}

/* ---- keys ---- */

static uint64_t mix(uint64_t z)
{
	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

struct chooser {
	uint64_t state, keys;
	bool zipf;
	double zeta, theta, alpha, eta;
};

static double zeta(uint64_t n, double theta)
{
	double sum = 0;

	for (uint64_t i = 1; i <= n; i++)
		sum += pow(1.0 / (double)i, theta);
	return sum;
}

static struct chooser chooser(uint64_t keys, bool zipf)
{
	struct chooser c = { .state = 42, .keys = keys, .zipf = zipf, .theta = 0.99 };

	if (!zipf)
		return c;
	c.zeta = zeta(keys, c.theta);
	c.alpha = 1 / (1 - c.theta);
	c.eta = (1 - pow(2.0 / (double)keys, 1 - c.theta)) / (1 - zeta(2, c.theta) / c.zeta);
	return c;
}

/* Zipfian ranks by the method of Gray et al. (as in YCSB), scattered over the keys. */
static uint64_t choose(struct chooser *c)
{
	uint64_t r = mix(c->state += 0x9e3779b97f4a7c15u);

	if (!c->zipf)
		return r % c->keys;
	double u = (double)(r >> 11) / (double)(1ull << 53), uz = u * c->zeta;
	uint64_t rank = uz < 1 ? 0 : uz < 1 + pow(0.5, c->theta) ? 1
		: (uint64_t)((double)c->keys * pow(c->eta * u - c->eta + 1, c->alpha));

	return mix(rank) % c->keys;
}

/* As the store makes them: table, hash, key. */
static void make_key(uint8_t out[KEY], uint64_t i)
{
	uint64_t hash = __builtin_bswap64(mix(i + 1));

	memset(out, 0, KEY);
	out[3] = 7;
	memcpy(out + 4, &hash, 8);
	snprintf((char *)out + 12, 12, "user%07llu", (unsigned long long)(i % 10000000));
}

static void make_value(uint8_t out[VALUE], uint64_t n)
{
	for (size_t i = 0; i < VALUE; i += 8) {
		uint64_t r = mix(n * VALUE + i);

		memcpy(out + i, &r, 8);
	}
}

/* ---- the two stores ---- */

struct target {
	const char *name, *file;   /* file: in its directory, LMDB's */
	void (*open)(const char *dir);
	void (*put)(const uint8_t *key, const uint8_t *value);
	void (*begin)(void);
	void (*commit)(void);
	void (*look)(struct result *r);
	void (*close)(void);
};

static struct engine *engine;
static size_t overlay_bytes;   /* 0 = the engine's default */
static struct fault fault;

static void engine_start(const char *dir)
{
	if (engine_open(&(struct engine_opts){ .dir = dir, .overlay_bytes = overlay_bytes }, &engine, &fault) != ERR_OK)
		die("engine_open", fault.text);
}

static void engine_batch(void)
{
}

/* One client's write is one transaction. */
static void engine_one(const uint8_t *key, const uint8_t *value)
{
	uint64_t lsn;

	engine_begin(engine);
	engine_put(engine, slice_of(key, KEY), slice_of(value, VALUE));
	if (engine_commit(engine, &lsn, &fault) != ERR_OK)
		die("engine_commit", fault.text);
}

static void engine_end(void)
{
	if (engine_flush(engine, &fault) != ERR_OK)
		die("engine_flush", fault.text);
	engine_publish(engine);
}

static void engine_look(struct result *r)
{
	struct engine_stats s;

	engine_stats(engine, &s);
	if ((double)s.log_bytes / 1e6 > r->log_mb)
		r->log_mb = (double)s.log_bytes / 1e6;
	if ((double)s.overlay_bytes / 1e6 > r->overlay_mb)
		r->overlay_mb = (double)s.overlay_bytes / 1e6;
	r->stall_s = (double)s.writer_stall_ns_total / 1e9;
}

static void engine_stop(void)
{
	engine_close(&engine);
}

static MDB_env *env;
static MDB_txn *txn;
static MDB_dbi dbi;

static void check(int rc, const char *what)
{
	if (rc != 0)
		die(what, mdb_strerror(rc));
}

static void lmdb_start(const char *dir)
{
	char path[4096];

	mkdir(dir, 0700);
	snprintf(path, sizeof path, "%s/plain.lmdb", dir);
	check(mdb_env_create(&env), "mdb_env_create");
	check(mdb_env_set_mapsize(env, (size_t)64 << 30), "mdb_env_set_mapsize");
	check(mdb_env_open(env, path, MDB_NOSUBDIR | MDB_NORDAHEAD, 0600), "mdb_env_open");
	check(mdb_txn_begin(env, NULL, 0, &txn), "mdb_txn_begin");
	check(mdb_dbi_open(txn, NULL, 0, &dbi), "mdb_dbi_open");
	check(mdb_txn_commit(txn), "mdb_txn_commit");
}

static void lmdb_batch(void)
{
	check(mdb_txn_begin(env, NULL, 0, &txn), "mdb_txn_begin");
}

static void lmdb_one(const uint8_t *key, const uint8_t *value)
{
	uint8_t k[KEY], v[VALUE];

	memcpy(k, key, KEY);
	memcpy(v, value, VALUE);
	check(mdb_put(txn, dbi, &(MDB_val){ KEY, k }, &(MDB_val){ VALUE, v }, 0), "mdb_put");
}

static void lmdb_end(void)
{
	check(mdb_txn_commit(txn), "mdb_txn_commit");
}

static void lmdb_look(struct result *r)
{
	(void)r;
}

static void lmdb_stop(void)
{
	mdb_env_close(env);
}

static const struct target targets[2] = {
	{ "lmdb", "plain.lmdb", lmdb_start, lmdb_one, lmdb_batch, lmdb_end, lmdb_look, lmdb_stop },
	{ "engine", "index.lmdb", engine_start, engine_one, engine_batch, engine_end, engine_look, engine_stop },
};

/* ---- runs ---- */

static int by_value(const void *a, const void *b)
{
	const float *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static void percentiles(struct result *r, float *ms, size_t n)
{
	if (n == 0)
		return;
	qsort(ms, n, sizeof *ms, by_value);
	r->p50_ms = ms[n / 2];
	r->p99_ms = ms[n * 99 / 100];
	r->max_ms = ms[n - 1];
}

/* `ops` puts, or as many as fit into `seconds`, in batches of `clients`. */
static struct result run(const struct target *t, struct chooser c, unsigned clients, uint64_t ops, double seconds)
{
	size_t cap = 1 << 16, n = 0;
	float *ms = malloc(cap * sizeof *ms);
	uint8_t key[KEY], value[VALUE];
	struct result r = { 0 };
	double start = now(), cpu_start = cpu(), last = start;

	while ((ops != 0 && r.ops < ops) || (ops == 0 && last - start < seconds)) {
		double at = now();

		t->begin();
		for (unsigned i = 0; i < clients; i++) {
			make_key(key, choose(&c));
			make_value(value, r.ops++);
			t->put(key, value);
		}
		t->commit();
		last = now();
		if (n == cap)
			ms = realloc(ms, (cap *= 2) * sizeof *ms);
		ms[n++] = (float)((last - at) * 1e3);
		if (n % 64 == 0)
			t->look(&r);
	}
	r.seconds = last - start;
	r.cpu_us = (cpu() - cpu_start) * 1e6 / (double)r.ops;
	struct rusage u;

	getrusage(RUSAGE_SELF, &u);
	r.rss_mb = (double)u.ru_maxrss / 1e3;
	t->look(&r);
	percentiles(&r, ms, n);
	free(ms);
	return r;
}

static void load(const struct target *t, uint64_t keys)
{
	uint8_t key[KEY], value[VALUE];

	for (uint64_t i = 0; i < keys;) {
		t->begin();
		for (unsigned b = 0; b < 4096 && i < keys; b++, i++) {
			make_key(key, i);
			make_value(value, i);
			t->put(key, value);
		}
		t->commit();
	}
}

/* Have all of the file in memory: what is measured is writing. Page by page, as LMDB comes to them: where a file is read ahead, newer
 * kernels keep it in large pieces, and each page that is written costs a walk through its piece. */
static void warm(const char *dir, const char *file)
{
	static char bytes[4096];
	char path[4096 + 16];

	snprintf(path, sizeof path, "%s/%s", dir, file);
	int fd = open(path, O_RDONLY);

	(void)posix_fadvise(fd, 0, 0, POSIX_FADV_RANDOM);
	while (fd >= 0 && read(fd, bytes, sizeof bytes) > 0)
		continue;
	close(fd);
}

/* In a process of its own: its memory, its CPU time. The loaded directory is made once and used by all runs. */
static struct result in_child(const struct target *t, const char *dir, const struct args *a, const char *mode,
	unsigned clients)
{
	int fd[2];
	struct result r = { 0 };

	if (pipe(fd) != 0)
		die("pipe", NULL);
	pid_t pid = fork();

	if (pid == 0) {
		warm(dir, t->file);
		t->open(dir);
		if (strcmp(mode, "load") == 0)
			load(t, a->keys);
		else
			r = run(t, chooser(a->keys, strcmp(mode, "zipf") == 0), clients,
				strcmp(mode, "burst") != 0 ? 0 : clients == 1 ? a->burst / 10 : a->burst, a->seconds);
		if (write(fd[1], &r, sizeof r) != sizeof r)
			die("write", NULL);
		t->close();
		_exit(0);
	}
	close(fd[1]);
	if (read(fd[0], &r, sizeof r) != sizeof r)
		die(t->name, "failed");
	close(fd[0]);
	waitpid(pid, NULL, 0);
	sync();   /* what one leaves to the operating system must not burden the next */
	return r;
}

static void print(const char *mode, unsigned clients, const char *name, const struct result *r)
{
	printf("%-8s %4u %-7s %9.0f %8.2f %8.2f %8.1f %8.1f %8.0f %8.0f %8.0f %7.1f\n", mode, clients, name,
		(double)r->ops / r->seconds, r->p50_ms, r->p99_ms, r->max_ms, r->cpu_us, r->log_mb, r->overlay_mb,
		r->rss_mb, r->stall_s);
	fflush(stdout);
}

static bool listed(const char *list, const char *word)
{
	return strstr(list, word) != NULL;
}

static void compare(const struct args *a, const char *mode, unsigned clients)
{
	char dir[2][4096];

	for (unsigned i = 0; i < 2; i++)
		snprintf(dir[i], sizeof dir[i], "%s/%s", a->dir, targets[i].name);
	for (unsigned round = 0; round < a->rounds; round++) {
		struct result r[2] = { { 0 } };

		for (unsigned i = 0; i < 2; i++) {
			unsigned which = (i + round) % 2;

			if (!listed(a->stores, targets[which].name))
				continue;
			r[which] = in_child(&targets[which], dir[which], a, mode, clients);
			print(mode, clients, targets[which].name, &r[which]);
		}
		if (r[0].ops == 0 || r[1].ops == 0)
			continue;
		printf("%-8s %4u ratio   %9.2f p99 %.2f\n", mode, clients,
			((double)r[1].ops / r[1].seconds) / ((double)r[0].ops / r[0].seconds), r[1].p99_ms / r[0].p99_ms);
	}
}

static void parse(struct args *a, int argc, char **argv)
{
	for (int opt; (opt = getopt(argc, argv, "d:k:n:t:r:m:c:s:o:")) != -1;) {
		switch (opt) {
		case 'd': a->dir = optarg; break;
		case 'k': a->keys = strtoull(optarg, NULL, 10); break;
		case 'n': a->burst = strtoull(optarg, NULL, 10); break;
		case 't': a->seconds = (unsigned)strtoul(optarg, NULL, 10); break;
		case 'r': a->rounds = (unsigned)strtoul(optarg, NULL, 10); break;
		case 'm': a->modes = optarg; break;
		case 'c': a->clients = optarg; break;
		case 's': a->stores = optarg; break;
		case 'o': overlay_bytes = strtoull(optarg, NULL, 10) << 20; break;
		default: fprintf(stderr, "see the head of bench/engine.c\n"); exit(2);
		}
	}
}

int main(int argc, char **argv)
{
	static const char *const names[2] = { "lmdb", "engine" };
	struct args a = { .dir = "/var/tmp/dynax-bench-engine", .modes = "burst,uniform,zipf", .clients = "1,64,256",
		.stores = "lmdb,engine",
		.keys = 1000000, .burst = 300000, .seconds = 120, .rounds = 1 };
	char dir[4096], mark[4096 + 16];

	parse(&a, argc, argv);
	mkdir(a.dir, 0700);
	for (unsigned i = 0; i < 2; i++) {
		snprintf(dir, sizeof dir, "%s/%s", a.dir, names[i]);
		snprintf(mark, sizeof mark, "%s/%s.loaded", a.dir, names[i]);
		if (access(mark, F_OK) == 0)
			continue;
		printf("loading %llu keys into %s\n", (unsigned long long)a.keys, names[i]);
		in_child(&targets[i], dir, &a, "load", 0);
		close(open(mark, O_CREAT | O_WRONLY, 0600));
	}
	printf("%-8s %4s %-7s %9s %8s %8s %8s %8s %8s %8s %8s %7s\n", "mode", "C", "store", "puts/s", "p50 ms", "p99 ms",
		"max ms", "cpu us", "log MB", "ovl MB", "rss MB", "stall s");
	for (const char *c = a.clients; listed(a.modes, "burst") && c != NULL; c = strchr(c, ',') ? strchr(c, ',') + 1 : NULL)
		compare(&a, "burst", (unsigned)strtoul(c, NULL, 10));
	if (listed(a.modes, "uniform"))
		compare(&a, "uniform", 256);
	if (listed(a.modes, "zipf"))
		compare(&a, "zipf", 256);
	return 0;
}
