/* stream_cost - what a write puts into the log, and what CPU time it takes, by what follows the table: a stream with each
 * view type, indexes, time to live.
 *
 *    build/bench/stream_cost [BYTES]        of an item's filler, 100 by default
 *
 * Whole items are put in the place of others, 64 in flight, without a disk. The log's bytes are those of its records, without
 * batch headers and padding. CPU time is the process', so with everything else that a write costs; the least of some rounds.
 * An index that follows in transactions of its own is waited for. */
#include "bench/requests.h"
#include "store/store_int.h"

enum { KEYS = 4096, ROUNDS = 3, PASSES = 4, BODY_MAX = 8192, LOG_SLOT = 15 };

struct setting {
	const char *name;
	const char *view;                /* of a stream; NULL = none */
	unsigned gsis;
	bool lsi, ttl;
};

static const struct setting settings[] = {
	{ .name = "no stream" },
	{ .name = "KEYS_ONLY", .view = "KEYS_ONLY" },
	{ .name = "NEW_IMAGE", .view = "NEW_IMAGE" },
	{ .name = "OLD_IMAGE", .view = "OLD_IMAGE" },
	{ .name = "NEW_AND_OLD_IMAGES", .view = "NEW_AND_OLD_IMAGES" },
	{ .name = "1 GSI (KEYS_ONLY)", .gsis = 1 },
	{ .name = "3 GSIs (KEYS_ONLY)", .gsis = 3 },
	{ .name = "1 LSI (KEYS_ONLY)", .lsi = true },
	{ .name = "time to live", .ttl = true },
	{ .name = "3 GSIs, NEW_AND_OLD_IMAGES", .gsis = 3, .view = "NEW_AND_OLD_IMAGES" },
};
enum { SETTINGS = sizeof settings / sizeof settings[0] };

struct result { double log, ns; };

/* ---- the table ---- */

static void put_index(char *out, size_t size, const char *name, const char *hash, const char *range)
{
	snprintf(out, size, "{\"IndexName\":\"%s\",\"KeySchema\":[{\"AttributeName\":\"%s\",\"KeyType\":\"HASH\"},"
		"{\"AttributeName\":\"%s\",\"KeyType\":\"RANGE\"}],\"Projection\":{\"ProjectionType\":\"KEYS_ONLY\"}}", name, hash, range);
}

static void put_indexes(char *out, size_t size, const struct setting *x)
{
	static const char *const name[] = { "by-a", "by-b", "by-c" }, *const range[] = { "a", "b", "d" };
	size_t n = 0;
	char one[512];

	out[0] = '\0';
	for (unsigned i = 0; i < x->gsis; i++) {
		put_index(one, sizeof one, name[i], "g", range[i]);
		n += (size_t)snprintf(out + n, size - n, "%s%s%s", i == 0 ? ",\"GlobalSecondaryIndexes\":[" : ",", one,
			i + 1 == x->gsis ? "]" : "");
	}
	if (x->lsi) {
		put_index(one, sizeof one, "local", "pk", "a");
		snprintf(out + n, size - n, ",\"LocalSecondaryIndexes\":[%s]", one);
	}
}

static void put_definitions(char *out, size_t size, const struct setting *x)
{
	static const char *const range[] = { "a", "b", "d" };
	unsigned ranges = x->gsis > x->lsi ? x->gsis : x->lsi;
	size_t n = (size_t)snprintf(out, size, "{\"AttributeName\":\"pk\",\"AttributeType\":\"S\"},"
		"{\"AttributeName\":\"sk\",\"AttributeType\":\"N\"}%s",
		x->gsis != 0 ? ",{\"AttributeName\":\"g\",\"AttributeType\":\"S\"}" : "");

	for (unsigned i = 0; i < ranges; i++)
		n += (size_t)snprintf(out + n, size - n, ",{\"AttributeName\":\"%s\",\"AttributeType\":\"N\"}", range[i]);
}

static void create(struct store *s, struct store_reader *r, struct json_reader *json, const struct setting *x)
{
	static char body[BODY_MAX], definitions[1024], indexes[2048], stream[256];

	put_definitions(definitions, sizeof definitions, x);
	put_indexes(indexes, sizeof indexes, x);
	stream[0] = '\0';
	if (x->view != NULL)
		snprintf(stream, sizeof stream, ",\"StreamSpecification\":{\"StreamEnabled\":true,\"StreamViewType\":\"%s\"}", x->view);
	snprintf(body, sizeof body, "{\"TableName\":\"tab\",\"BillingMode\":\"PAY_PER_REQUEST\",\"KeySchema\":["
		"{\"AttributeName\":\"pk\",\"KeyType\":\"HASH\"},{\"AttributeName\":\"sk\",\"KeyType\":\"RANGE\"}],"
		"\"AttributeDefinitions\":[%s]%s%s}", definitions, indexes, stream);
	request_all(s, r, json, OP_CreateTable, &(const char *){ body }, 1);
	if (x->ttl)
		request_all(s, r, json, OP_UpdateTimeToLive, &(const char *){ "{\"TableName\":\"tab\",\"TimeToLiveSpecification\":"
			"{\"Enabled\":true,\"AttributeName\":\"until\"}}" }, 1);
}

/* ---- writes ---- */

/* Every key once; what indexes and time to live look at changes with each pass. */
static void put_all(struct store *s, struct store_reader *r, struct json_reader *json, unsigned pass, unsigned filler)
{
	static char text[IN_FLIGHT][BODY_MAX];
	const char *body[IN_FLIGHT];

	for (unsigned key = 0; key < KEYS; key += IN_FLIGHT) {
		for (unsigned i = 0; i < IN_FLIGHT; i++) {
			unsigned x = key + i + pass;

			snprintf(text[i], sizeof text[i], "{\"TableName\":\"tab\",\"Item\":{\"pk\":{\"S\":\"customer-%08u\"},\"sk\":{\"N\":\"1\"},"
				"\"g\":{\"S\":\"group-%04u\"},\"a\":{\"N\":\"%u\"},\"b\":{\"N\":\"%u\"},\"d\":{\"N\":\"%u\"},\"until\":{\"N\":\"%u\"},"
				"\"filler\":{\"S\":\"%0*u\"}}}", key + i, x % 1000, x, x, x, 4000000000u + x, (int)filler, x);
			body[i] = text[i];
		}
		request_all(s, r, json, OP_PutItem, body, IN_FLIGHT);
	}
}

/* Bytes of records after the LSN. */
static uint64_t log_bytes(struct engine *e, uint64_t after)
{
	struct log_reader *r;
	struct log_entry entry;
	uint64_t bytes = 0;
	bool got;

	if (log_reader_open(e, after, &r, NULL) != ERR_OK)
		die("cannot read the log");
	while (log_reader_next(r, &entry, &got, NULL) == ERR_OK && got)
		bytes += entry.bytes;
	log_reader_close(&r);
	return bytes;
}

/* Until nothing has been published for a while. */
static void settle(struct engine *e)
{
	for (uint64_t before = 0; before != engine_published(e);) {
		before = engine_published(e);
		nanosleep(&(struct timespec){ .tv_nsec = 50000000 }, NULL);
	}
}

static struct result measure(const struct setting *x, unsigned filler)
{
	struct store_opts o = { .keeper_ms = 3600 * 1000 };
	struct json_reader *json = json_reader_new();
	struct store_reader *r;
	struct store *s;
	struct result out;

	if (store_open(&o, &s, NULL) != ERR_OK)
		die("cannot open a store");
	r = store_reader_new(s);
	create(s, r, json, x);
	put_all(s, r, json, 0, filler);
	settle(s->engine);
	uint64_t lsn = engine_published(s->engine), start = cpu_ns(CLOCK_PROCESS_CPUTIME_ID);

	engine_retain(s->engine, LOG_SLOT, lsn);
	for (unsigned pass = 1; pass <= PASSES; pass++)
		put_all(s, r, json, pass, filler);
	settle(s->engine);
	out.ns = (double)(cpu_ns(CLOCK_PROCESS_CPUTIME_ID) - start) / (PASSES * KEYS);
	out.log = (double)log_bytes(s->engine, lsn) / (PASSES * KEYS);
	store_reader_free(&r);
	store_close(&s);
	json_reader_free(&json);
	return out;
}

int main(int argc, char **argv)
{
	unsigned filler = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 100;
	struct result best[SETTINGS];

	if (filler > BODY_MAX / 2)
		die("too many bytes");
	/* In turn, so that what else the machine does hits all alike. */
	for (unsigned round = 0; round < ROUNDS; round++) {
		for (unsigned i = 0; i < SETTINGS; i++) {
			struct result x = measure(&settings[i], filler);

			if (round == 0 || x.ns < best[i].ns)
				best[i] = x;
		}
	}
	printf("%-28s %12s %12s\n", "", "log, bytes", "CPU, ns");
	for (unsigned i = 0; i < SETTINGS; i++)
		printf("%-28s %12.0f %12.0f\n", settings[i].name, best[i].log, best[i].ns);
	return 0;
}
