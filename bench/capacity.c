/* capacity - what enforcing and metering throughput costs a read and a write, by mode and by what the table declares.
 *
 *    build/bench/capacity [THREADS]
 *
 * Reads: one item of 100 bytes, over and over, through store_read; CPU time of the reading threads, which share one table,
 * the worst case for what they count together. Writes: through the writer, 64 in flight; CPU time of the process, so with
 * everything else that a write costs. The throughput declared, and that of a partition, is so high that nothing is refused. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench/requests.h"

enum { READS = 500000, WRITES = 64000, ROUNDS = 3, THREADS_MAX = 16, SETTINGS = 8 };

static const char *const tables[] = { "on demand", "provisioned" };
static const char *const schema = "{\"TableName\":\"tab\",\"KeySchema\":[{\"AttributeName\":\"pk\",\"KeyType\":\"HASH\"}],"
	"\"AttributeDefinitions\":[{\"AttributeName\":\"pk\",\"AttributeType\":\"S\"}],%s}";
static const char *const billing[] = {
	"\"BillingMode\":\"PAY_PER_REQUEST\",\"WarmThroughput\":{\"ReadUnitsPerSecond\":3000000,\"WriteUnitsPerSecond\":3000000}",
	"\"ProvisionedThroughput\":{\"ReadCapacityUnits\":3000000,\"WriteCapacityUnits\":3000000}" };
static const char *const item = "{\"TableName\":\"tab\",\"Item\":{\"pk\":{\"S\":\"customer-00000000001\"},\"value\":{\"S\":"
	"\"----------------------------------------------------------------\"},\"n\":{\"N\":\"1\"}}}";

/* ---- reads ---- */

struct reading {
	pthread_t thread;
	struct store *store;
	uint64_t ns;
};

static void *read_item(void *arg)
{
	struct reading *g = arg;
	struct store_reader *r = store_reader_new(g->store);
	const struct table *t = store_table(r, SLICE_LIT("tab"));
	struct slice found, value;
	struct buf key, part;
	struct fault f;
	uint64_t hash, start;

	fault_init(&f, NULL);
	buf_init(&key);
	buf_init(&part);
	mp_put_map(&key, 1);
	mp_put_str(&key, SLICE_LIT("pk"));
	mp_put_str(&key, SLICE_LIT("customer-00000000001"));
	mp_put_str(&part, SLICE_LIT("customer-00000000001"));
	value = buf_slice(&part);
	hash = store_hash(&value, 1);
	start = cpu_ns(CLOCK_THREAD_CPUTIME_ID);
	for (unsigned i = 0; i < READS; i++)
		if (store_read(r, t, buf_slice(&key), hash, READ_EVENTUAL, &found, &f) != ERR_OK || !slice_present(found))
			die("a read failed");
	g->ns = cpu_ns(CLOCK_THREAD_CPUTIME_ID) - start;
	buf_release(&key);
	buf_release(&part);
	store_reader_free(&r);
	return NULL;
}

static double read_ns(struct store *s, unsigned threads)
{
	struct reading g[THREADS_MAX];
	uint64_t ns = 0;

	for (unsigned i = 0; i < threads; i++) {
		g[i].store = s;
		if (pthread_create(&g[i].thread, NULL, read_item, &g[i]) != 0)
			die("no threads");
	}
	for (unsigned i = 0; i < threads; i++) {
		pthread_join(g[i].thread, NULL);
		ns += g[i].ns;
	}
	return (double)ns / threads / READS;
}

/* ---- a store in one mode with one table ---- */

struct result { double read, write; };

static struct result measure(enum capacity_mode mode, const char *table, unsigned threads)
{
	struct store_opts o = { .capacity = mode, .partition_rcu = 1u << 20, .partition_wcu = 1u << 20 };
	struct json_reader *json = json_reader_new();
	struct store_reader *r;
	struct store *s;
	const char *items[IN_FLIGHT];
	struct result out;
	char body[512];

	if (store_open(&o, &s, NULL) != ERR_OK)
		die("cannot open a store");
	r = store_reader_new(s);
	snprintf(body, sizeof body, schema, table);
	request_all(s, r, json, OP_CreateTable, &(const char *){ body }, 1);
	for (unsigned i = 0; i < IN_FLIGHT; i++)
		items[i] = item;
	uint64_t start = cpu_ns(CLOCK_PROCESS_CPUTIME_ID);

	for (unsigned i = 0; i < WRITES; i += IN_FLIGHT)
		request_all(s, r, json, OP_PutItem, items, IN_FLIGHT);
	out.write = (double)(cpu_ns(CLOCK_PROCESS_CPUTIME_ID) - start) / WRITES;
	out.read = read_ns(s, threads);
	store_reader_free(&r);
	store_close(&s);
	json_reader_free(&json);
	return out;
}

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
	static const char *const mode[] = { [CAPACITY_DECLARED] = "declared", [CAPACITY_AWS] = "aws", [CAPACITY_ACCOUNT] = "account",
		[CAPACITY_OFF] = "off" };
	static const enum capacity_mode order[] = { CAPACITY_OFF, CAPACITY_ACCOUNT, CAPACITY_DECLARED, CAPACITY_AWS };
	unsigned threads = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 1;
	double reads[SETTINGS][ROUNDS], writes[SETTINGS][ROUNDS];

	if (threads == 0 || threads > THREADS_MAX)
		die("1 to 16 threads");
	/* In turn, so that what else the machine does hits all alike. */
	for (unsigned round = 0; round < ROUNDS; round++) {
		for (unsigned i = 0; i < SETTINGS; i++) {
			struct result r = measure(order[i / 2], billing[i % 2], threads);

			reads[i][round] = r.read;
			writes[i][round] = r.write;
		}
	}
	printf("%u threads, medians of %u rounds, ns of CPU time\n", threads, (unsigned)ROUNDS);
	for (unsigned i = 0; i < SETTINGS; i++) {
		qsort(reads[i], ROUNDS, sizeof(double), by_size);
		qsort(writes[i], ROUNDS, sizeof(double), by_size);
		printf("%-9s %-12s read %6.1f   write %7.0f\n", mode[order[i / 2]], tables[i % 2], reads[i][ROUNDS / 2],
			writes[i][ROUNDS / 2]);
	}
	return 0;
}
