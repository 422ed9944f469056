/* Snapshots of the catalog: found by name and id, held as long as a reader may look, and no longer. */
#include <criterion/criterion.h>
#include <stdio.h>

#include "store/store_int.h"
#include "tests/unit/store/fixture.h"

static struct fixture *fx;

static void setup(void)
{
	fx = fixture_new(NULL);
}

static void teardown(void)
{
	fixture_free(fx);
}

TestSuite(catalog, .init = setup, .fini = teardown);

static void create(int i)
{
	char body[256];

	snprintf(body, sizeof body, "{'TableName':'table-%03d','BillingMode':'PAY_PER_REQUEST','KeySchema':[{'AttributeName':'pk',"
		"'KeyType':'HASH'}],'AttributeDefinitions':[{'AttributeName':'pk','AttributeType':'S'}]}", i);
	ok(fx, "CreateTable", body, NULL);
}

/* The writer is idle: its own list may be looked at. */
static unsigned retired(void)
{
	unsigned n = 0;

	for (const struct catalog *c = fixture_store(fx)->catalog.retired; c != NULL; c = c->next)
		n++;
	return n;
}

Test(catalog, found_by_name_and_by_id)
{
	char name[32];

	for (int i = 0; i < 100; i++)
		create((i * 37) % 100);
	struct store_reader *r = store_reader_new(fixture_store(fx));
	const struct catalog *c = reader_catalog(r);

	cr_assert_eq(c->n, 100);
	for (int i = 0; i < 100; i++) {
		snprintf(name, sizeof name, "table-%03d", i);
		const struct catalog_table *t = catalog_find(c, slice_str(name));

		cr_assert_not_null(t);
		cr_assert_eq(c->by_name[i], t, "sorted by name");
		cr_assert_eq(catalog_find_id(c, t->table.id), t);
		cr_assert_eq(catalog_after(c, slice_str(name)), (size_t)i + 1);
	}
	cr_assert_null(catalog_find(c, SLICE_LIT("table-100")));
	cr_assert_null(catalog_find_id(c, 0));
	store_reader_free(&r);
}

Test(catalog, held_until_its_reader_is_quiet)
{
	struct store_reader *r = store_reader_new(fixture_store(fx));

	create(0);
	const struct table *held = store_table(r, SLICE_LIT("table-000"));

	cr_assert_not_null(held);
	ok(fx, "DeleteTable", "{'TableName':'table-000'}", NULL);
	for (int i = 1; i < 5; i++)
		create(i);
	/* Five were published since; the one we look at and those after it are kept. */
	cr_assert_eq(retired(), 5);
	cr_assert(slice_eq(held->name, SLICE_LIT("table-000")), "still ours to read");
	cr_assert_null(store_table(r, SLICE_LIT("table-000")), "a new look sees the newest");
	store_reader_quiesce(r);
	create(5);
	cr_assert_eq(retired(), 0);
	store_reader_free(&r);
}

Test(catalog, not_newer_than_an_open_view)
{
	struct store_reader *r = store_reader_new(fixture_store(fx));
	struct view *v;
	struct fault f;

	fault_init(&f, NULL);
	create(0);
	cr_assert_eq(reader_view(r, &v, &f), ERR_OK);
	create(1);
	cr_assert_null(store_table(r, SLICE_LIT("table-001")));
	store_reader_release(r);
	cr_assert_not_null(store_table(r, SLICE_LIT("table-001")));
	store_reader_free(&r);
}

/* The table's row as an older format has it: without the fields before the last that came since. */
static void put_older(struct buf *b, struct slice row, unsigned fields, unsigned format)
{
	struct mp m = mp_open(row);
	uint32_t now = mp_array(&m);

	mp_put_array(b, fields);
	mp_put_int(b, format);
	mp_skip(&m);
	for (uint32_t i = 1; i < now; i++) {
		struct slice field = mp_skip(&m);

		if (i < fields - 1 || i == now - 1)
			buf_put_slice(b, field);
	}
}

/* A table as it was written before its changes of throughput, its partitions, its switches and its state were noted. */
Test(catalog, reads_the_format_before)
{
	enum { FIELDS = 13, FORMAT = 2 };
	create(0);
	struct store_reader *r = store_reader_new(fixture_store(fx));
	const struct catalog_table *now = catalog_find(reader_catalog(r), SLICE_LIT("table-000"));
	struct catalog_table *then = NULL;
	struct buf b;

	buf_init(&b);
	for (unsigned more = 0; more < 4; more++) {
		buf_clear(&b);
		put_older(&b, now->bytes, FIELDS + more, FORMAT + more);
		cr_assert_eq(catalog_table_decode(buf_slice(&b), &then, NULL), ERR_OK);
		cr_assert(slice_eq(then->table.name, now->table.name));
		cr_assert(slice_eq(then->facts.uuid, now->facts.uuid));
		cr_assert_eq(then->facts.pasts, 0);
		catalog_table_unref(&then);
		/* No number goes with another's fields. */
		buf_clear(&b);
		put_older(&b, now->bytes, FIELDS + more, FORMAT + more + 1);
		cr_assert_eq(catalog_table_decode(buf_slice(&b), &then, NULL), ERR_CORRUPT);
	}
	buf_release(&b);
	store_reader_free(&r);
}
