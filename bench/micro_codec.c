/* micro_codec - the hand-written msgpack reader beside msgpack-c's unpacker.
 *
 * What a GetItem costs before its item is looked up, and what it costs to find one attribute of a 1-KB item of 20. Each way
 * gets from the bytes to what the server needs: of the request the table's name, the key's bytes and ConsistentRead; of the
 * item the value of its last attribute, and its end. Nanoseconds, the best and the median of 41 rounds. */
#include <msgpack.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "protocol/value.h"

enum { ROUNDS = 41, CALLS = 20000, ATTRIBUTES = 20 };

static struct buf request, item;
static volatile size_t sink;

static void build(void)
{
	/* A table's name, a Key of one attribute, ConsistentRead: 44 bytes. */
	mp_put_map(&request, 3);
	mp_put_int(&request, 1);
	mp_put_bool(&request, false);
	mp_put_int(&request, 3);
	mp_put_map(&request, 1);
	mp_put_str(&request, SLICE_LIT("pk"));
	mp_put_str(&request, SLICE_LIT("customer#0000000001"));
	mp_put_int(&request, 6);
	mp_put_str(&request, SLICE_LIT("a-shop-s-table"));
	mp_put_map(&item, ATTRIBUTES);
	for (int i = 0; i < ATTRIBUTES; i++) {
		char name[16];
		uint8_t text[47];

		memset(text, 'a' + i, sizeof text);
		snprintf(name, sizeof name, "attr%02d", i);
		mp_put_str(&item, slice_str(name));
		if (i % 4 == 3)
			value_put_int(&item, 1234567 + i);
		else
			value_put_string(&item, slice_of(text, sizeof text));
	}
}

/* ---- by hand ---- */

static void hand_request(void)
{
	struct mp m = mp_open(buf_slice(&request));
	size_t got = 0;

	for (uint32_t n = mp_map(&m); n > 0; n--) {
		switch (mp_uint(&m)) {
		case 1:
			got += mp_bool(&m);
			break;
		case 3:
			got += mp_skip(&m).n;
			break;
		default:
			got += mp_str(&m).n;
			break;
		}
	}
	sink += got + m.bad;
}

static void hand_get(void)
{
	sink += map_get(buf_slice(&item), SLICE_LIT("attr19")).n;
}

static void hand_skip(void)
{
	struct mp m = mp_open(buf_slice(&item));

	sink += mp_skip(&m).n;
}

/* ---- msgpack-c: a tree in a zone, which is kept for the next call where that is possible ---- */

static msgpack_zone *zone;

static msgpack_object unpack(const struct buf *b, msgpack_zone *z)
{
	msgpack_object o = { 0 };

	msgpack_unpack((const char *)b->p, b->n, NULL, z, &o);
	return o;
}

static size_t take_request(msgpack_object o)
{
	size_t got = 0;

	for (uint32_t i = 0; i < o.via.map.size; i++) {
		const msgpack_object *v = &o.via.map.ptr[i].val;

		got += v->type == MSGPACK_OBJECT_STR ? v->via.str.size : v->type == MSGPACK_OBJECT_MAP ? v->via.map.size : 0;
	}
	return got;
}

static void tree_request(void)
{
	msgpack_zone_clear(zone);
	sink += take_request(unpack(&request, zone));
}

static void tree_request_new(void)
{
	msgpack_zone z;

	msgpack_zone_init(&z, MSGPACK_ZONE_CHUNK_SIZE);
	sink += take_request(unpack(&request, &z));
	msgpack_zone_destroy(&z);
}

static void tree_get(void)
{
	msgpack_object o;

	msgpack_zone_clear(zone);
	o = unpack(&item, zone);
	for (uint32_t i = 0; i < o.via.map.size; i++)
		if (o.via.map.ptr[i].key.via.str.size == 6 && memcmp(o.via.map.ptr[i].key.via.str.ptr, "attr19", 6) == 0)
			sink += o.via.map.ptr[i].val.via.str.size;
}

/* ---- measuring ---- */

static double now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double measure(const char *what, void (*call)(void), double than)
{
	double ns[ROUNDS];

	for (int r = 0; r < ROUNDS; r++) {
		double start = now_ns();

		for (int i = 0; i < CALLS; i++)
			call();
		ns[r] = (now_ns() - start) / CALLS;
	}
	qsort(ns, ROUNDS, sizeof *ns, by_value);
	printf("%-58s %8.1f %8.1f", what, ns[0], ns[ROUNDS / 2]);
	if (than != 0)
		printf("   %.1f times", ns[ROUNDS / 2] / than);
	putchar('\n');
	return ns[ROUNDS / 2];
}

int main(void)
{
	double hand;

	build();
	zone = msgpack_zone_new(MSGPACK_ZONE_CHUNK_SIZE);
	if (zone == NULL || request.failed || item.failed)
		return 1;
	printf("%-58s %8s %8s\n", "", "best ns", "median");
	printf("GetItem request, %zu bytes\n", request.n);
	hand = measure("  by hand", hand_request, 0);
	measure("  msgpack-c, zone kept", tree_request, hand);
	measure("  msgpack-c, zone made and freed", tree_request_new, hand);
	printf("item of %d attributes, %zu bytes\n", ATTRIBUTES, item.n);
	measure("  by hand: step over it", hand_skip, 0);
	hand = measure("  by hand: its last attribute", hand_get, 0);
	measure("  msgpack-c: its last attribute, zone kept", tree_get, hand);
	msgpack_zone_free(zone);
	buf_release(&request);
	buf_release(&item);
	return 0;
}
