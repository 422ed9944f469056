/* Statements from an untrusted client, with two parameters, against a few items and two kinds of tables.
 *
 * What parses must bind to what evaluates: conditions to the same truth twice, items and rows to canonical maps, reads to
 * disjoint ones that together find all that the WHERE holds of (P2). Complaints must have words. */
#include "protocol/partiql.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool ok)
{
	if (!ok)
		abort();
}

static struct slice string(struct arena *a, const char *s)
{
	struct buf b;
	struct slice out;

	buf_init(&b);
	value_put_string(&b, slice_str(s));
	out = arena_copy(a, buf_slice(&b));
	buf_release(&b);
	return out;
}

static struct slice integer(struct arena *a, int64_t v)
{
	struct buf b;
	struct slice out;

	buf_init(&b);
	value_put_int(&b, v);
	out = arena_copy(a, buf_slice(&b));
	buf_release(&b);
	return out;
}

static struct slice item_of(struct arena *a, const char *pk, int64_t sk, const char *s)
{
	struct map_builder m;
	struct slice out;
	struct buf b;

	map_builder_init(&m, a);
	map_builder_add(&m, SLICE_LIT("pk"), string(a, pk));
	map_builder_add(&m, SLICE_LIT("sk"), integer(a, sk));
	map_builder_add(&m, SLICE_LIT("a"), string(a, s));
	buf_init(&b);
	require(map_put(&m, &b));
	out = arena_copy(a, buf_slice(&b));
	buf_release(&b);
	return out;
}

static bool range_has(const struct key_condition *k, struct slice v)
{
	int c = slice_present(k->lo) && value_type(k->lo) == value_type(v) ? value_cmp(v, k->lo) : 0;

	if (k->range_eqs != 0)
		return value_eq(v, k->range_eq[0]);
	switch (k->op) {
	case KEY_OP_NONE:
		return true;
	case KEY_OP_LT:
		return c < 0;
	case KEY_OP_LE:
		return c <= 0;
	case KEY_OP_GT:
		return c > 0;
	case KEY_OP_GE:
		return c >= 0;
	case KEY_OP_BETWEEN:
		return c >= 0 && value_cmp(v, k->hi) <= 0;
	default:
		return slice_starts_with(value_bytes(v), value_bytes(k->lo));
	}
}

/* Is what the WHERE holds of found by exactly one of the reads? */
static void check_reads(const struct statement *s, const struct key_schema *ks, struct slice item)
{
	struct statement_reads r;
	struct fault f;
	unsigned found = 0;

	fault_init(&f, s->arena);
	if (statement_reads(s, ks, true, &r, &f) != ERR_OK) {
		require(f.text != NULL);
		return;
	}
	if (r.scan || s->where == NULL || !condition_eval(s->where, item))
		return;
	for (unsigned i = 0; i < r.n; i++)
		found += value_eq(map_get(item, ks->hash[0].name), r.read[i].key.hash[0]) &&
			(ks->ranges == 0 || range_has(&r.read[i].key, map_get(item, ks->range[0].name)));
	require(found >= 1);
}

static void check_write(const struct statement *s, const struct key_schema *ks, struct slice item)
{
	struct condition *c = NULL;
	struct slice key;
	struct fault f;
	struct buf b;
	bool more;

	fault_init(&f, s->arena);
	if (slice_present(s->item))
		require(item_check(s->item));
	if (statement_key(s, ks, PICK_WRITE, &key, &more, &f) != ERR_OK)
		return;
	require(item_check(key) && statement_condition(s, ks->hash[0].name, more, &c, &f) == ERR_OK);
	if (c != NULL)
		require(condition_eval(c, item) == condition_eval(c, item));
	if (s->update == NULL)
		return;
	buf_init(&b);
	if (update_apply(s->update, item, key, s->arena, &b, &f) == ERR_OK)
		require(item_check(buf_slice(&b)));
	else
		require(f.text != NULL);
	buf_release(&b);
}

static void check_row(const struct statement *s, struct slice item)
{
	struct buf b;

	buf_init(&b);
	statement_row(s, item, &b);
	require(item_check(buf_slice(&b)));
	buf_release(&b);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct key_schema pair = { .hash = { { { (const uint8_t *)"pk", 2 }, VALUE_S } },
		.range = { { { (const uint8_t *)"sk", 2 }, VALUE_N } }, .hashes = 1, .ranges = 1 };
	static const struct key_schema one = { .hash = { { { (const uint8_t *)"a", 1 }, VALUE_S } }, .hashes = 1 };
	struct slice item[3], text = slice_of(data, utf8_prefix(slice_of(data, size < 8192 ? size : 8192))); /* doors let no other in */
	struct statement *s;
	struct arena a;
	struct fault f;
	struct buf b;

	arena_init(&a, 0);
	fault_init(&f, &a);
	buf_init(&b);
	mp_put_array(&b, 2);
	buf_put_slice(&b, string(&a, "x"));
	buf_put_slice(&b, integer(&a, 2));
	item[0] = item_of(&a, "x", 2, "b");
	item[1] = item_of(&a, "x", 1, "a");
	item[2] = item_of(&a, "y", 0, "");
	if (text.n == 0 || (statement_parse(text, SLICE_NONE, &a, &s, &f) != ERR_OK &&
				 statement_parse(text, buf_slice(&b), &a, &s, &f) != ERR_OK)) {
		require(text.n == 0 || f.text != NULL);
	} else {
		for (unsigned i = 0; i < 3; i++) {
			check_reads(s, &pair, item[i]);
			check_reads(s, &one, item[i]);
			check_write(s, &pair, item[i]);
			check_row(s, item[i]);
		}
	}
	buf_release(&b);
	arena_release(&a);
	return 0;
}
