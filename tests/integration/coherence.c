/* coherence - is what clients see through both doors and all caches of a real dynaxd linearizable?
 *
 *    clients, half HTTP, half msgpack:  PutItem, UpdateItem, BatchWriteItem
 *                                       GetItem, BatchGetItem, Query, Scan      of a few keys, all at once
 *
 * Each value is written once; what every client did and saw, with times, is checked key by key (history.h): an item
 * in a Query's, Scan's or BatchGetItem's answer is a read of its key, and a key that is not in it a read of "absent".
 * Keys are new ones twenty times a second, so that absence is cached and replaced again and again.
 *
 *    coherence DYNAXD [SECONDS [SEED [OPTION...]]]      SEED 0: by the clock; OPTIONs go to the daemon
 *
 * Exit status 0: linearizable, and the caches had hits; 1: not; 2: it could not be tried. A daemon built with FAULTS=1 under
 * DYNAX_FAULT=no-epoch-check,fill-delay=... must give 1 (mk/test.mk). */
#include "protocol/frame.h"
#include "protocol/json.h"
#include "protocol/value.h"
#include "tests/integration/history.h"

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { PARTITIONS = 3, ITEMS = 3, KEYS = PARTITIONS * ITEMS, CLIENTS = 8, NAME_MAX_BYTES = 32, OPTIONS_MAX = 16 };
#define ROUND_NS ((int64_t)50 * 1000 * 1000)
#define TABLE "coherence"

static void give_up(const char *what)
{
	fprintf(stderr, "coherence: %s\n", what);
	exit(2);
}

/* ---- the daemon ---- */

struct daemon {
	pid_t pid;
	uint16_t http, msgpack;
};

static void read_ports(struct daemon *d, int fd)
{
	FILE *out = fdopen(fd, "r");
	char line[512];
	unsigned http, msgpack;

	while (out != NULL && fgets(line, sizeof(line), out) != NULL) {
		const char *at = strstr(line, "ready: http ");

		if (at != NULL && sscanf(at, "ready: http %*[^:]:%u, msgpack %*[^:]:%u", &http, &msgpack) == 2) {
			d->http = (uint16_t)http;
			d->msgpack = (uint16_t)msgpack;
			return;      /* out stays open, so that the daemon can go on writing */
		}
	}
	give_up("dynaxd did not become ready");
}

/* more: further options, NULL-terminated. */
static struct daemon daemon_start(char *path, char **more)
{
	static const char *const fixed[] = { "--memory", "--http", "127.0.0.1:0", "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0",
		"--threads", "8" };
	enum { FIXED = sizeof(fixed) / sizeof(fixed[0]) };
	char *args[OPTIONS_MAX + FIXED + 2] = { path };
	struct daemon d = { 0 };
	int fds[2];

	for (unsigned i = 0; i < FIXED; i++)
		args[1 + i] = strdup(fixed[i]);      /* execv wants them writable; they live as long as the test */
	for (unsigned i = 0; i < OPTIONS_MAX && more[i] != NULL; i++)
		args[1 + FIXED + i] = more[i];

	if (pipe(fds) != 0)
		give_up("pipe");
	d.pid = fork();
	if (d.pid == 0) {
		dup2(fds[1], STDOUT_FILENO);
		close(fds[0]);
		close(fds[1]);
		execv(path, args);
		_exit(127);
	}
	close(fds[1]);
	if (d.pid < 0)
		give_up("fork");
	read_ports(&d, fds[0]);
	return d;
}

static void daemon_stop(const struct daemon *d)
{
	int status;

	kill(d->pid, SIGTERM);
	if (waitpid(d->pid, &status, 0) != d->pid || !WIFEXITED(status) || WEXITSTATUS(status) != 0)
		give_up("dynaxd did not end well");
}

/* ---- a client's connection: records in, records out, through either door ---- */

struct client {
	pthread_t thread;
	bool http;
	int fd;
	uint32_t id;
	uint64_t random;
	struct buf out, in, record;      /* what is sent; what came; the answer as a record */
	struct json_reader *json;
	struct arena arena;
	struct history seen;
	uint64_t hits[OP_COUNT];
	int64_t begin, end;
};

static void send_all(int fd, struct slice s)
{
	while (s.n > 0) {
		ssize_t n = send(fd, s.p, s.n, MSG_NOSIGNAL);

		if (n <= 0)
			give_up("the daemon hung up");
		s.p += n;
		s.n -= (size_t)n;
	}
}

static void receive(struct client *c)
{
	uint8_t *p = buf_reserve(&c->in, 65536);
	ssize_t n = p != NULL ? recv(c->fd, p, 65536, 0) : -1;

	if (n <= 0)
		give_up("the daemon hung up");
	c->in.n += (size_t)n;
}

static struct frame receive_frame(struct client *c)
{
	struct frame f;
	struct slice in;

	for (;;) {
		in = buf_slice(&c->in);
		switch (frame_next(&in, FRAME_MAX, &f, NULL)) {
		case FRAME_READY:
			return f;
		case FRAME_BAD:
			give_up("a bad frame");
			break;
		case FRAME_NEED_MORE:
			receive(c);
			break;
		}
	}
}

static struct slice msgpack_exchange(struct client *c, enum op op, struct slice request, bool *hit)
{
	struct frame f;
	size_t at = frame_begin(&c->out, FRAME_REQUEST, (uint8_t)op, ++c->id);

	buf_put_slice(&c->out, request);
	frame_end(&c->out, at);
	send_all(c->fd, buf_slice(&c->out));
	f = receive_frame(c);
	if (f.kind == FRAME_ERROR) {
		struct fault fault;

		fault_init(&fault, &c->arena);
		give_up(frame_read_error(&f, &fault) && fault.text != NULL ? fault.text : "an error");
	}
	if (f.kind != FRAME_ANSWER || f.id != c->id)
		give_up("an answer to something else");
	*hit = f.code == FRAME_CACHE_HIT;
	return f.body;
}

/* The body of the HTTP answer that is being received. */
static struct slice receive_http(struct client *c, bool *hit)
{
	const char *text, *body, *length;
	size_t n;

	for (;;) {
		buf_put_u8(&c->in, '\0');
		c->in.n--;
		text = (const char *)c->in.p;
		body = c->in.n != 0 ? strstr(text, "\r\n\r\n") : NULL;
		if (body != NULL) {
			length = strcasestr(text, "\r\ncontent-length:");
			if (length == NULL)
				give_up("an answer without a length");
			n = strtoul(length + 17, NULL, 10);
			if (c->in.n - (size_t)(body + 4 - text) >= n)
				break;
		}
		receive(c);
	}
	if (strncmp(text, "HTTP/1.1 200", 12) != 0)
		give_up(text);
	*hit = strcasestr(text, "\r\nx-dynax-cache: hit") != NULL;
	return slice_of(body + 4, n);
}

static struct slice http_exchange(struct client *c, enum op op, struct slice request, bool *hit)
{
	struct buf json;
	struct fault f;
	struct slice body;

	buf_init(&json);
	json_write(&json, op_info[op].in, request);
	buf_printf(&c->out, "POST / HTTP/1.1\r\nHost: x\r\nX-Amz-Target: DynamoDB_20120810.%s\r\n"
		"Content-Type: application/x-amz-json-1.0\r\nContent-Length: %zu\r\n\r\n", op_info[op].name, json.n);
	buf_put_slice(&c->out, buf_slice(&json));
	buf_release(&json);
	send_all(c->fd, buf_slice(&c->out));
	body = receive_http(c, hit);
	fault_init(&f, &c->arena);
	if (json_read(c->json, op_info[op].out, body, &c->arena, &c->record, &f) != ERR_OK)
		give_up("an answer that cannot be read");
	return buf_slice(&c->record);
}

/* Ask, wait, and open the answer. */
static void exchange(struct client *c, enum op op, const struct buf *request, struct record *answer)
{
	struct slice bytes;
	bool hit = false;

	if (request->failed)
		give_up("out of memory");
	arena_reset(&c->arena);
	buf_clear(&c->out);
	buf_clear(&c->in);
	buf_clear(&c->record);
	bytes = c->http ? http_exchange(c, op, buf_slice(request), &hit) : msgpack_exchange(c, op, buf_slice(request), &hit);
	if (!record_open(answer, op_info[op].out, bytes))
		give_up("an answer of another shape");
	c->hits[op] += hit;
}

static void client_open(struct client *c, const struct daemon *d, bool http)
{
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons(http ? d->http : d->msgpack),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int on = 1;

	c->http = http;
	buf_init(&c->out);
	buf_init(&c->in);
	buf_init(&c->record);
	arena_init(&c->arena, 0);
	c->json = json_reader_new();
	c->fd = socket(AF_INET, SOCK_STREAM, 0);
	if (c->fd < 0 || connect(c->fd, (struct sockaddr *)&to, sizeof(to)) != 0)
		give_up("cannot connect");
	setsockopt(c->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	if (http)
		return;
	size_t at = frame_begin(&c->out, FRAME_HELLO, 0, 0);

	mp_put_map(&c->out, 4);
	mp_put_int(&c->out, 0);
	mp_put_int(&c->out, FRAME_VERSION);
	mp_put_int(&c->out, 1);
	mp_put_int(&c->out, 0);
	mp_put_int(&c->out, 2);
	mp_put_int(&c->out, FRAME_MAX);
	mp_put_int(&c->out, 3);
	mp_put_str(&c->out, SLICE_LIT("coherence test"));
	frame_end(&c->out, at);
	send_all(c->fd, buf_slice(&c->out));
	if (receive_frame(c).kind != FRAME_HELLO)
		give_up("no greeting");
}

static void client_close(struct client *c)
{
	close(c->fd);
	buf_release(&c->out);
	buf_release(&c->in);
	buf_release(&c->record);
	arena_release(&c->arena);
	json_reader_free(&c->json);
	history_release(&c->seen);
}

/* ---- requests ---- */

/* Key k of a round: partition and place in it, by name. */
struct key {
	uint64_t round;
	unsigned k;
};

static void put_pk(struct buf *b, struct key key)
{
	char text[NAME_MAX_BYTES];
	int n = snprintf(text, sizeof(text), "r%llu-%u", (unsigned long long)key.round, key.k / ITEMS);

	value_put_string(b, slice_of(text, (size_t)n));
}

/* pk and sk, and v unless it is 0. */
static void put_item(struct buf *b, struct key key, uint64_t value)
{
	char sk[2] = { (char)('0' + key.k % ITEMS), '\0' };

	mp_put_map(b, value != 0 ? 3 : 2);
	mp_put_str(b, SLICE_LIT("pk"));
	put_pk(b, key);
	mp_put_str(b, SLICE_LIT("sk"));
	value_put_string(b, slice_of(sk, 1));
	if (value != 0) {
		mp_put_str(b, SLICE_LIT("v"));
		value_put_int(b, (int64_t)value);
	}
}

static void put_member(struct buf *b, unsigned *n, unsigned id, struct key key, uint64_t value)
{
	record_key(b, n, id);
	put_item(b, key, value);
}

/* {":x": value} as ExpressionAttributeValues; value == 0: the partition's name. */
static void put_values(struct buf *b, unsigned *n, unsigned id, struct key key, uint64_t value)
{
	record_key(b, n, id);
	mp_put_map(b, 1);
	mp_put_str(b, SLICE_LIT(":x"));
	if (value != 0)
		value_put_int(b, (int64_t)value);
	else
		put_pk(b, key);
}

static _Atomic uint64_t next_value = 1;

static uint64_t draw(struct client *c)
{
	uint64_t x = c->random += 0x9E3779B97F4A7C15u;

	x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
	x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
	return x ^ (x >> 31);
}

static void saw(struct client *c, struct key key, uint64_t value, int64_t asked, int64_t answered, bool write)
{
	history_add(&c->seen, (struct history_op){ .key = key.round * KEYS + key.k, .value = value, .asked = asked,
		.answered = answered, .write = write });
}

/* ---- writes ---- */

static enum op build_put(struct buf *b, struct key key, uint64_t value)
{
	size_t at = record_begin(b);
	unsigned n = 0;

	put_member(b, &n, PutItemInput_Item, key, value);
	record_put_str(b, &n, PutItemInput_TableName, SLICE_LIT(TABLE));
	record_end(b, at, n);
	return OP_PutItem;
}

static enum op build_update(struct buf *b, struct key key, uint64_t value)
{
	size_t at = record_begin(b);
	unsigned n = 0;

	put_values(b, &n, UpdateItemInput_ExpressionAttributeValues, key, value);
	put_member(b, &n, UpdateItemInput_Key, key, 0);
	record_put_str(b, &n, UpdateItemInput_TableName, SLICE_LIT(TABLE));
	record_put_str(b, &n, UpdateItemInput_UpdateExpression, SLICE_LIT("SET v = :x"));
	record_end(b, at, n);
	return OP_UpdateItem;
}

static enum op build_batch_write(struct buf *b, struct key key, uint64_t value)
{
	size_t at = record_begin(b), request, put;
	unsigned n = 0, one = 0, inner = 0;

	record_key(b, &n, BatchWriteItemInput_RequestItems);
	mp_put_map(b, 1);
	mp_put_str(b, SLICE_LIT(TABLE));
	mp_put_array(b, 1);
	request = record_begin(b);
	record_key(b, &one, WriteRequest_PutRequest);
	put = record_begin(b);
	put_member(b, &inner, PutRequest_Item, key, value);
	record_end(b, put, inner);
	record_end(b, request, one);
	record_end(b, at, n);
	return OP_BatchWriteItem;
}

static void do_write(struct client *c, struct key key, unsigned way)
{
	uint64_t value = atomic_fetch_add_explicit(&next_value, 1, memory_order_relaxed);
	struct record answer;
	struct buf b;
	enum op op;
	int64_t asked;

	buf_init(&b);
	op = way == 0 ? build_update(&b, key, value) : way == 1 ? build_batch_write(&b, key, value) :
		build_put(&b, key, value);
	asked = history_now();
	exchange(c, op, &b, &answer);
	saw(c, key, value, asked, history_now(), true);
	buf_release(&b);
}

/* ---- reads ---- */

static uint64_t value_of(struct slice item)
{
	struct slice v = slice_present(item) ? map_get(item, SLICE_LIT("v")) : SLICE_NONE;
	int64_t n = 0;

	if (slice_present(v) && !number_to_int(value_bytes(v), &n))
		give_up("a value that is no number");
	return (uint64_t)n;
}

/* Items of this round, by key, into got[]. */
static void take_items(struct mp m, uint32_t n, uint64_t round, uint64_t got[KEYS])
{
	for (; n > 0; n--) {
		struct slice item = mp_skip(&m), pk = value_bytes(map_get(item, SLICE_LIT("pk"))),
			sk = value_bytes(map_get(item, SLICE_LIT("sk")));
		char name[NAME_MAX_BYTES] = "";
		unsigned long long r;
		unsigned p;

		memcpy(name, pk.p, pk.n < sizeof(name) - 1 ? pk.n : sizeof(name) - 1);
		if (sscanf(name, "r%llu-%u", &r, &p) != 2 || p >= PARTITIONS || sk.n != 1)
			give_up("an item of somebody else");
		if (r == round)
			got[p * ITEMS + (unsigned)(sk.p[0] - '0')] = value_of(item);
	}
}

/* Each of these keys was seen once, by an answer that has these items. */
static void saw_items(struct client *c, struct mp m, uint32_t n, struct key first, unsigned keys, int64_t asked)
{
	int64_t answered = history_now();
	uint64_t got[KEYS] = { 0 };

	take_items(m, n, first.round, got);
	for (unsigned i = first.k; i < first.k + keys; i++)
		saw(c, (struct key){ first.round, i }, got[i], asked, answered, false);
}

/* A Query or Scan. */
static void ask_page(struct client *c, enum op op, struct buf *b, struct key first, unsigned keys)
{
	struct record answer;
	int64_t asked = history_now();
	uint32_t items;

	exchange(c, op, b, &answer);
	struct mp m = record_list(&answer, QueryOutput_Items, &items);

	saw_items(c, m, items, first, keys, asked);
	buf_release(b);
}

static void do_get(struct client *c, struct key key)
{
	struct record answer;
	unsigned n = 0;
	struct buf b;
	int64_t asked;
	size_t at;

	buf_init(&b);
	at = record_begin(&b);
	put_member(&b, &n, GetItemInput_Key, key, 0);
	record_put_str(&b, &n, GetItemInput_TableName, SLICE_LIT(TABLE));
	record_end(&b, at, n);
	asked = history_now();
	exchange(c, OP_GetItem, &b, &answer);
	saw(c, key, value_of(answer.m[GetItemOutput_Item]), asked, history_now(), false);
	buf_release(&b);
}

static void do_query(struct client *c, struct key key)
{
	unsigned n = 0;
	struct buf b;
	size_t at;

	buf_init(&b);
	at = record_begin(&b);
	put_values(&b, &n, QueryInput_ExpressionAttributeValues, key, 0);
	record_put_str(&b, &n, QueryInput_KeyConditionExpression, SLICE_LIT("pk = :x"));
	record_put_str(&b, &n, QueryInput_TableName, SLICE_LIT(TABLE));
	record_end(&b, at, n);
	ask_page(c, OP_Query, &b, (struct key){ key.round, key.k / ITEMS * ITEMS }, ITEMS);
}

_Static_assert((int)QueryOutput_Items == (int)ScanOutput_Items, "one page for two");

static void do_scan(struct client *c, uint64_t round)
{
	unsigned n = 0;
	struct buf b;
	size_t at;

	buf_init(&b);
	at = record_begin(&b);
	record_put_str(&b, &n, ScanInput_TableName, SLICE_LIT(TABLE));
	record_end(&b, at, n);
	ask_page(c, OP_Scan, &b, (struct key){ round, 0 }, KEYS);
}

/* All keys of the round in one batch: some cached, some cold. */
static void do_batch_get(struct client *c, uint64_t round)
{
	struct record answer;
	unsigned n = 0, inner = 0;
	int64_t asked;
	uint32_t tables, items;
	size_t at, table;
	struct buf b;
	struct mp m;

	buf_init(&b);
	at = record_begin(&b);
	record_key(&b, &n, BatchGetItemInput_RequestItems);
	mp_put_map(&b, 1);
	mp_put_str(&b, SLICE_LIT(TABLE));
	table = record_begin(&b);
	record_key(&b, &inner, KeysAndAttributes_Keys);
	mp_put_array(&b, KEYS);
	for (unsigned i = 0; i < KEYS; i++)
		put_item(&b, (struct key){ round, i }, 0);
	record_end(&b, table, inner);
	record_end(&b, at, n);
	asked = history_now();
	exchange(c, OP_BatchGetItem, &b, &answer);
	m = record_list(&answer, BatchGetItemOutput_Responses, &tables);
	if (tables != 1)
		give_up("a batch without its table");
	mp_str(&m);
	items = mp_array(&m);
	saw_items(c, m, items, (struct key){ round, 0 }, KEYS, asked);
	buf_release(&b);
}

static void *client_run(void *arg)
{
	struct client *c = arg;

	for (int64_t now; (now = history_now()) < c->end;) {
		struct key key = { (uint64_t)((now - c->begin) / ROUND_NS), (unsigned)(draw(c) >> 8) % KEYS };
		uint64_t x = draw(c) % 100;

		if (x < 20)
			do_write(c, key, (unsigned)x % 3);
		else if (x < 65)
			do_get(c, key);
		else if (x < 90)
			do_query(c, key);
		else if (x < 97)
			do_batch_get(c, key.round);
		else
			do_scan(c, key.round);
	}
	return NULL;
}

/* ---- all of it ---- */

static void create_table(struct client *c)
{
	static const char request[] = "{\"TableName\":\"" TABLE "\",\"BillingMode\":\"PAY_PER_REQUEST\",\"KeySchema\":["
		"{\"AttributeName\":\"pk\",\"KeyType\":\"HASH\"},{\"AttributeName\":\"sk\",\"KeyType\":\"RANGE\"}],"
		"\"AttributeDefinitions\":[{\"AttributeName\":\"pk\",\"AttributeType\":\"S\"},"
		"{\"AttributeName\":\"sk\",\"AttributeType\":\"S\"}]}";
	struct record answer;
	struct fault f;
	struct buf b;

	buf_init(&b);
	fault_init(&f, &c->arena);
	if (json_read(c->json, op_info[OP_CreateTable].in, slice_str(request), &c->arena, &b, &f) != ERR_OK)
		give_up("CreateTable");
	exchange(c, OP_CreateTable, &b, &answer);
	buf_release(&b);
}

static void run(struct client *client, const struct daemon *d, double seconds, uint64_t seed)
{
	int64_t begin;

	for (unsigned i = 0; i < CLIENTS; i++)
		client_open(&client[i], d, i % 2 == 0);
	create_table(&client[0]);
	begin = history_now();
	for (unsigned i = 0; i < CLIENTS; i++) {
		client[i].random = seed * CLIENTS + i;
		client[i].begin = begin;
		client[i].end = begin + (int64_t)(seconds * 1e9);
		if (pthread_create(&client[i].thread, NULL, client_run, &client[i]) != 0)
			give_up("no threads");
	}
	for (unsigned i = 0; i < CLIENTS; i++)
		pthread_join(client[i].thread, NULL);
}

int main(int argc, char **argv)
{
	double seconds = argc > 2 ? atof(argv[2]) : 5;
	uint64_t seed = argc > 3 ? strtoull(argv[3], NULL, 10) : 0;
	static struct client client[CLIENTS];
	uint64_t hits[OP_COUNT] = { 0 };
	struct history all = { 0 };
	struct daemon d;
	size_t bad, n;

	if (argc < 2)
		give_up("usage: coherence DYNAXD [SECONDS [SEED [OPTION...]]]");
	if (seed == 0)
		seed = (uint64_t)time(NULL);
	d = daemon_start(argv[1], argv + (argc > 4 ? 4 : argc));
	run(client, &d, seconds, seed);
	for (unsigned i = 0; i < CLIENTS; i++) {
		history_merge(&all, &client[i].seen);
		for (unsigned op = 0; op < OP_COUNT; op++)
			hits[op] += client[i].hits[op];
		client_close(&client[i]);
	}
	daemon_stop(&d);
	n = all.n;
	bad = history_check(&all);
	history_release(&all);
	printf("coherence: SEED=%llu, %zu observations; hits: GetItem %llu, BatchGetItem %llu, Query %llu, Scan %llu; "
		"%zu keys not linearizable\n", (unsigned long long)seed, n, (unsigned long long)hits[OP_GetItem],
		(unsigned long long)hits[OP_BatchGetItem], (unsigned long long)hits[OP_Query],
		(unsigned long long)hits[OP_Scan], bad);
	if (bad == 0 && (hits[OP_GetItem] == 0 || hits[OP_Query] == 0))
		give_up("the caches had no hits: nothing was tested");
	return bad != 0;
}
