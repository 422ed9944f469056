/* The store on its log: a batch that cannot be written leaves nothing, and what is written tells those who follow. */
#include <criterion/criterion.h>
#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/engine/failpoint.h"
#include "store/store_int.h"
#include "tests/unit/store/fixture.h"

static char dir[32];
static struct fixture *fx;

#define CREATE(name, more) "{'TableName':'" name "','BillingMode':'PAY_PER_REQUEST'," \
	"'KeySchema':[{'AttributeName':'pk','KeyType':'HASH'}],'AttributeDefinitions':[{'AttributeName':'pk','AttributeType':'S'}]" more "}"

static void setup(void)
{
	strcpy(dir, "/tmp/dynax-store-XXXXXX");
	cr_assert_not_null(mkdtemp(dir));
	fx = fixture_new(dir);
	ok(fx, "CreateTable", CREATE("tab", ""), NULL);
	ok(fx, "PutItem", "{'TableName':'tab','Item':{'pk':{'S':'a'},'v':{'N':'1'}}}", "{}");
}

static int remove_one(const char *path, const struct stat *st, int flag, struct FTW *ftw)
{
	(void)st, (void)flag, (void)ftw;
	return remove(path);
}

static void teardown(void)
{
	fixture_free(fx);
	nftw(dir, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

TestSuite(store_log, .init = setup, .fini = teardown);

static void one_item(void)
{
	struct outcome o = run(fx, "DescribeTable", "{'TableName':'tab'}");

	cr_assert_not_null(strstr(o.json, "\"ItemCount\":1,"), "%s", o.json);
	ok(fx, "GetItem", "{'TableName':'tab','Key':{'pk':{'S':'a'}}}", "{'Item':{'pk':{'S':'a'},'v':{'N':'1'}}}");
	ok(fx, "ListTables", "{}", "{'TableNames':['tab']}");
}

static const enum failpoint places[] = { FAILPOINT_LOG_WRITE, FAILPOINT_LOG_WRITE_HALF, FAILPOINT_LOG_SYNC };

Test(store_log, a_flush_that_fails_undoes_everything)
{
	for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
		const struct failpoint_plan plan = { .times = 0, .error = ENOSPC };

		failpoint_arm(places[i], &plan);
		fails(fx, "PutItem", "{'TableName':'tab','Item':{'pk':{'S':'b'}}}", ERR_DISK_FULL, NULL);
		fails(fx, "UpdateItem", "{'TableName':'tab','Key':{'pk':{'S':'a'}},'UpdateExpression':'REMOVE v'}", ERR_DISK_FULL, NULL);
		fails(fx, "DeleteItem", "{'TableName':'tab','Key':{'pk':{'S':'a'}}}", ERR_DISK_FULL, NULL);
		fails(fx, "CreateTable", CREATE("more", ""), ERR_DISK_FULL, NULL);
		fails(fx, "DeleteTable", "{'TableName':'tab'}", ERR_DISK_FULL, NULL);
		failpoint_disarm(places[i]);
		one_item();
	}
	ok(fx, "PutItem", "{'TableName':'tab','Item':{'pk':{'S':'b'}}}", "{}");
	ok(fx, "DeleteItem", "{'TableName':'tab','Key':{'pk':{'S':'b'}}}", "{}");
	fixture_reopen(fx);
	one_item();
}

/* ---- notes ---- */

/* The note of the last entry; its bytes are copied into out. */
static size_t last_note(uint8_t *out, size_t max, size_t *changes)
{
	struct engine *e = fixture_store(fx)->engine;
	struct log_reader *r = NULL;
	struct log_entry entry;
	struct fault f;
	size_t n = 0;
	bool got;

	fault_init(&f, NULL);
	cr_assert_eq(log_reader_open(e, engine_published(e) - 1, &r, &f), ERR_OK, "%s", f.text);
	cr_assert_eq(log_reader_next(r, &entry, &got, &f), ERR_OK);
	cr_assert(got);
	cr_assert(entry.note.n <= max);
	if (slice_present(entry.note)) {
		memcpy(out, entry.note.p, entry.note.n);
		n = entry.note.n;
	}
	*changes = entry.changes;
	log_reader_close(&r);
	return n;
}

Test(store_log, followers_get_the_old_image)
{
	uint8_t note[256];
	size_t changes, n;

	ok(fx, "PutItem", "{'TableName':'tab','Item':{'pk':{'S':'a'},'v':{'N':'2'}}}", "{}");
	cr_assert_eq(last_note(note, sizeof note, &changes), 0, "nobody follows this table");
	ok(fx, "CreateTable", CREATE("str", ",'StreamSpecification':{'StreamEnabled':true,'StreamViewType':'NEW_AND_OLD_IMAGES'}"), NULL);
	ok(fx, "PutItem", "{'TableName':'str','Item':{'pk':{'S':'a'}}}", "{}");
	n = last_note(note, sizeof note, &changes);
	struct mp m = mp_open(slice_of(note, n));

	cr_assert_eq(mp_array(&m), 1);
	cr_assert_eq(mp_array(&m), 2);
	cr_assert_neq(mp_uint(&m), 0);
	cr_assert_eq(mp_peek(&m), MP_NIL, "there was no old image");
	ok(fx, "DeleteItem", "{'TableName':'str','Key':{'pk':{'S':'a'}}}", "{}");
	n = last_note(note, sizeof note, &changes);
	m = mp_open(slice_of(note, n));
	cr_assert_eq(mp_array(&m), 1);
	cr_assert_eq(mp_array(&m), 2);
	mp_uint(&m);
	struct slice old = mp_skip(&m);

	cr_assert(!m.bad && item_check(old));
	cr_assert(slice_eq(value_bytes(map_get(old, SLICE_LIT("pk"))), SLICE_LIT("a")));
	cr_assert_eq(changes, 2, "the item and its table's counters");
}

/* Ids are not used again, also not after a restart: a new table never sees what an old one had. */
Test(store_log, a_table_made_again_is_another)
{
	uint32_t before = store_table(fixture_reader(fx), SLICE_LIT("tab"))->id;

	ok(fx, "DeleteTable", "{'TableName':'tab'}", NULL);
	fixture_reopen(fx);
	ok(fx, "CreateTable", CREATE("tab", ""), NULL);
	cr_assert_gt(store_table(fixture_reader(fx), SLICE_LIT("tab"))->id, before);
	ok(fx, "GetItem", "{'TableName':'tab','Key':{'pk':{'S':'a'}}}", "{}");
	fixture_reopen(fx);
	struct outcome o = run(fx, "DescribeTable", "{'TableName':'tab'}");

	cr_assert_not_null(strstr(o.json, "\"ItemCount\":0,"), "%s", o.json);
}

/* An index that was being built when the store closed is built by the next one. */
Test(store_log, a_backfill_goes_on_after_a_restart)
{
	char body[128];
	struct outcome o;

	for (int i = 0; i < 600; i++) {
		snprintf(body, sizeof body, "{'TableName':'tab','Item':{'pk':{'S':'k%d'},'g':{'S':'x'}}}", i);
		ok(fx, "PutItem", body, "{}");
	}
	ok(fx, "UpdateTable", "{'TableName':'tab','AttributeDefinitions':[{'AttributeName':'g','AttributeType':'S'}],"
		"'GlobalSecondaryIndexUpdates':[{'Create':{'IndexName':'by-g','KeySchema':[{'AttributeName':'g','KeyType':'HASH'}],"
		"'Projection':{'ProjectionType':'KEYS_ONLY'}}}]}", NULL);
	fixture_reopen(fx);
	do {
		o = run(fx, "DescribeTable", "{'TableName':'tab'}");
	} while (strstr(o.json, "Backfilling") != NULL);
	cr_assert_not_null(strstr(o.json, "\"IndexStatus\":\"ACTIVE\",\"ItemCount\":600"), "%s", o.json);
}
