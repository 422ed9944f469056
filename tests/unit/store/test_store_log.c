/* The store on its log: a batch that cannot be written leaves nothing, and what is written tells those who follow. */
#include <criterion/criterion.h>
#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/engine/failpoint.h"
#include "store/store_int.h"
#include "store/streams.h"
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

/* ---- what a write puts into the log ---- */

/* The last entry's number of changes; the record of a stream among them is taken apart, its images copied into out. */
static size_t last_entry(struct stream_change *change, uint8_t *out)
{
	struct engine *e = fixture_store(fx)->engine;
	struct log_reader *r = NULL;
	struct log_entry entry;
	struct fault f;
	bool got, found = false;

	fault_init(&f, NULL);
	cr_assert_eq(log_reader_open(e, engine_published(e) - 1, &r, &f), ERR_OK, "%s", f.text);
	cr_assert_eq(log_reader_next(r, &entry, &got, &f), ERR_OK);
	cr_assert(got);
	cr_assert_not(slice_present(entry.note));
	for (size_t i = 0; i < entry.changes; i++) {
		struct log_change c = entry.change[i];

		if (c.key.n != STREAM_RECORD_KEY || !slice_present(c.value))
			continue;
		memcpy(out, c.value.p, c.value.n);
		found = stream_change_decode(slice_of(out, c.value.n), change);
	}
	cr_assert_eq(found, change != NULL);
	log_reader_close(&r);
	return entry.changes;
}

Test(store_log, a_change_and_its_record_are_one_entry)
{
	struct stream_change change;
	uint8_t bytes[256];

	ok(fx, "PutItem", "{'TableName':'tab','Item':{'pk':{'S':'a'},'v':{'N':'2'}}}", "{}");
	cr_assert_eq(last_entry(NULL, bytes), 1, "nobody follows this table");
	ok(fx, "CreateTable", CREATE("str", ",'StreamSpecification':{'StreamEnabled':true,'StreamViewType':'NEW_AND_OLD_IMAGES'}"), NULL);
	ok(fx, "PutItem", "{'TableName':'str','Item':{'pk':{'S':'a'}}}", "{}");
	cr_assert_eq(last_entry(&change, bytes), 3, "the item, its record, its table's counters");
	cr_assert(change.event == STREAM_INSERT && !slice_present(change.old) && item_check(change.new));
	ok(fx, "DeleteItem", "{'TableName':'str','Key':{'pk':{'S':'a'}}}", "{}");
	cr_assert_eq(last_entry(&change, bytes), 3);
	cr_assert(change.event == STREAM_REMOVE && !slice_present(change.new) && item_check(change.old));
	cr_assert(slice_eq(value_bytes(map_get(change.old, SLICE_LIT("pk"))), SLICE_LIT("a")));
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
