/* test_streams - records of changes: what they hold, where readers stand, how they age. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "store/streams.h"
#include "tests/unit/store/streams_support.h"

/* ---- what records hold ---- */

static const char *images(const char *view)
{
	static char out[TEXT_MAX];
	struct fixture *fx = fixture_new(NULL);
	struct followed s;
	size_t n = 0;

	create(fx, "tbl", view);
	follow(&s, fx, "tbl");
	put(fx, "tbl", 1, "");
	ok(fx, "UpdateItem", "{'TableName':'tbl','Key':{'p':{'S':'a'},'c':{'N':'1'}},'UpdateExpression':'SET y = :v',"
		"'ExpressionAttributeValues':{':v':{'N':'3'}}}", NULL);
	ok(fx, "DeleteItem", "{'TableName':'tbl','Key':{'p':{'S':'a'},'c':{'N':'1'}}}", NULL);
	struct outcome o = read_all(&s);

	/* Event names, and which images there are, with or without y. */
	for (const char *at = o.json; (at = strstr(at, "\"Keys\"")) != NULL; at++) {
		const char *end = strstr(at, "SequenceNumber"), *new = strstr(at, "NewImage"), *old = strstr(at, "OldImage");
		char event[TEXT_MAX];

		text_of(at, "eventName", 0, event);
		n += (size_t)snprintf(out + n, sizeof out - n, "%s", event);
		if (new != NULL && new < end) {
			const char *to = old != NULL && old < end ? old : end, *y = strstr(new, "\"y\"");
			n += (size_t)snprintf(out + n, sizeof out - n, " new%s", y != NULL && y < to ? "+y" : "");
		}
		if (old != NULL && old < end) {
			const char *y = strstr(old, "\"y\"");
			n += (size_t)snprintf(out + n, sizeof out - n, " old%s", y != NULL && y < end ? "+y" : "");
		}
		n += (size_t)snprintf(out + n, sizeof out - n, "; ");
	}
	cr_assert_eq(count_of(o.json, "\"eventSource\":\"aws:dynamodb\""), 3);
	cr_assert_eq(count_of(o.json, "\"eventVersion\":\"1.1\""), 3);
	cr_assert_eq(count_of(o.json, "\"eventID\":\""), 3);
	cr_assert_eq(count_of(o.json, fmt("\"StreamViewType\":\"%s\"", view)), 3);
	cr_assert_eq(count_of(o.json, "userIdentity"), 0);
	fixture_free(fx);
	return out;
}

Test(streams, images_by_view_type)
{
	cr_assert_str_eq(images("NEW_AND_OLD_IMAGES"), "INSERT new; MODIFY new+y old; REMOVE old+y; ");
	cr_assert_str_eq(images("NEW_IMAGE"), "INSERT new; MODIFY new+y; REMOVE; ");
	cr_assert_str_eq(images("OLD_IMAGE"), "INSERT; MODIFY old; REMOVE old+y; ");
	cr_assert_str_eq(images("KEYS_ONLY"), "INSERT; MODIFY; REMOVE; ");
}

/* The developer guide's own example: 26, 59 and 38 bytes. */
Test(streams, sizes_are_the_services)
{
	struct fixture *fx = fixture_new(NULL);
	struct followed s;

	ok(fx, "CreateTable", "{'TableName':'bark','KeySchema':[{'AttributeName':'Id','KeyType':'HASH'}],"
		"'AttributeDefinitions':[{'AttributeName':'Id','AttributeType':'N'}],'BillingMode':'PAY_PER_REQUEST',"
		"'StreamSpecification':{'StreamEnabled':true,'StreamViewType':'NEW_AND_OLD_IMAGES'}}", NULL);
	follow(&s, fx, "bark");
	ok(fx, "PutItem", "{'TableName':'bark','Item':{'Id':{'N':'101'},'Message':{'S':'New item!'}}}", NULL);
	ok(fx, "PutItem", "{'TableName':'bark','Item':{'Id':{'N':'101'},'Message':{'S':'This item has changed'}}}", NULL);
	ok(fx, "DeleteItem", "{'TableName':'bark','Key':{'Id':{'N':'101'}}}", NULL);
	struct outcome o = read_all(&s);
	const char *first = strstr(o.json, "\"SizeBytes\":26"), *second = strstr(o.json, "\"SizeBytes\":59");

	cr_assert(first != NULL && second != NULL && first < second && strstr(second, "\"SizeBytes\":38") != NULL, "%s", o.json);
	fixture_free(fx);
}

Test(streams, what_changes_nothing_is_not_recorded)
{
	struct fixture *fx = fixture_new(NULL);
	struct followed s;

	create(fx, "tbl", "KEYS_ONLY");
	follow(&s, fx, "tbl");
	put(fx, "tbl", 1, ",'x':{'N':'1'}");
	put(fx, "tbl", 1, ",'x':{'N':'1.0'}");
	ok(fx, "UpdateItem", "{'TableName':'tbl','Key':{'p':{'S':'a'},'c':{'N':'1'}},'UpdateExpression':'REMOVE nothing'}", NULL);
	ok(fx, "UpdateItem", "{'TableName':'tbl','Key':{'p':{'S':'b'},'c':{'N':'1'}},'UpdateExpression':'REMOVE nothing'}", NULL);
	ok(fx, "DeleteItem", "{'TableName':'tbl','Key':{'p':{'S':'a'},'c':{'N':'2'}}}", NULL);
	fails(fx, "PutItem", "{'TableName':'tbl','Item':{'p':{'S':'a'},'c':{'N':'1'}},'ConditionExpression':'attribute_not_exists(p)'}",
		ERR_CONDITION_FAILED, NULL);
	cr_assert_eq(count_of(read_all(&s).json, "eventName"), 1);
	fixture_free(fx);
}

Test(streams, every_change_of_a_transaction_is_a_record)
{
	struct fixture *fx = fixture_new(NULL);
	struct followed s;
	char number[2][TEXT_MAX];

	create(fx, "tbl", "NEW_IMAGE");
	follow(&s, fx, "tbl");
	put(fx, "tbl", 1, "");
	ok(fx, "TransactWriteItems", "{'TransactItems':["
		"{'Put':{'TableName':'tbl','Item':{'p':{'S':'a'},'c':{'N':'1'},'x':{'N':'2'}}}},"
		"{'Put':{'TableName':'tbl','Item':{'p':{'S':'a'},'c':{'N':'2'}}}}]}", NULL);
	ok(fx, "BatchWriteItem", "{'RequestItems':{'tbl':[{'PutRequest':{'Item':{'p':{'S':'a'},'c':{'N':'3'}}}},"
		"{'DeleteRequest':{'Key':{'p':{'S':'a'},'c':{'N':'1'}}}}]}}", NULL);
	struct outcome o = read_all(&s);

	cr_assert_eq(count_of(o.json, "\"INSERT\""), 3, "%s", o.json);
	cr_assert_eq(count_of(o.json, "\"MODIFY\""), 1);
	cr_assert_eq(count_of(o.json, "\"REMOVE\""), 1);
	for (unsigned i = 0; text_of(o.json, "SequenceNumber", i, number[i & 1]); i++) {
		cr_assert_eq(strlen(number[i & 1]), 21);
		if (i > 0)
			cr_assert_lt(strcmp(number[(i - 1) & 1], number[i & 1]), 0);
	}
	fixture_free(fx);
}

/* ---- positions ---- */

Test(streams, iterators_stand_where_they_say)
{
	struct fixture *fx = fixture_new(NULL);
	struct followed s;
	char latest[TEXT_MAX], it[TEXT_MAX], second[TEXT_MAX], start[TEXT_MAX];

	create(fx, "tbl", "KEYS_ONLY");
	follow(&s, fx, "tbl");
	iterator_of(&s, "LATEST", NULL, latest);
	for (int i = 1; i <= 3; i++)
		put(fx, "tbl", i, "");
	struct outcome o = read_on(&s, latest, 1000);

	cr_assert_eq(count_of(o.json, "eventName"), 3, "%s", o.json);
	text_of(o.json, "SequenceNumber", 1, second);
	cr_assert_str_eq(read_on(&s, latest, 1000).json + strlen("{\"NextShardIterator\":\"") + strlen(latest), "\",\"Records\":[]}");
	iterator_of(&s, "AT_SEQUENCE_NUMBER", second, it);
	cr_assert_eq(count_of(read_on(&s, it, 1000).json, "eventName"), 2);
	iterator_of(&s, "AFTER_SEQUENCE_NUMBER", second, it);
	cr_assert_eq(count_of(read_on(&s, it, 1000).json, "eventName"), 1);
	iterator_of(&s, "LATEST", NULL, it);
	cr_assert_eq(count_of(read_on(&s, it, 1000).json, "eventName"), 0);
	o = run(fx, "DescribeStream", fmt("{'StreamArn':'%s'}", s.arn));
	cr_assert(text_of(o.json, "StartingSequenceNumber", 0, start));
	iterator_of(&s, "AT_SEQUENCE_NUMBER", start, it);
	cr_assert_eq(count_of(read_on(&s, it, 1000).json, "eventName"), 3);
	/* One at a time: each once, in order. */
	iterator_of(&s, "TRIM_HORIZON", NULL, it);
	for (int i = 1; i <= 3; i++) {
		o = read_on(&s, it, 1);
		cr_assert_eq(count_of(o.json, "eventName"), 1);
		cr_assert_not_null(strstr(o.json, fmt("\"c\":{\"N\":\"%d\"}", i)), "%s", o.json);
	}
	cr_assert_eq(count_of(read_on(&s, it, 1).json, "eventName"), 0);
	fixture_free(fx);
}

Test(streams, misuse_has_its_error)
{
	struct fixture *fx = fixture_new(NULL);
	struct followed s;
	char it[TEXT_MAX];

	create(fx, "tbl", "KEYS_ONLY");
	follow(&s, fx, "tbl");
	fails(fx, "DescribeStream", "{'StreamArn':'notanarnnotanarnnotanarnnotanarnnotanarn'}", ERR_VALIDATION, "Invalid StreamArn");
	fails(fx, "DescribeStream", "{'StreamArn':'arn:aws:dynamodb:ddblocal:000000000000:table/none/stream/2026-01-01T00:00:00.000'}",
		ERR_RESOURCE_NOT_FOUND, "Requested resource not found: Stream: "
		"arn:aws:dynamodb:ddblocal:000000000000:table/none/stream/2026-01-01T00:00:00.000 not found");
	fails(fx, "GetShardIterator", fmt("{'StreamArn':'%s','ShardId':'shardId-00000000000000000000-00000000',"
		"'ShardIteratorType':'LATEST'}", s.arn), ERR_RESOURCE_NOT_FOUND, NULL);
	/* Told before the stream or the shard is looked for. */
	fails(fx, "GetShardIterator", "{'StreamArn':'arn:aws:dynamodb:ddblocal:000000000000:table/absent/stream/2024-01-01T00:00:00.000',"
		"'ShardId':'shardId-00000000000000000000-00000000','ShardIteratorType':'AT_SEQUENCE_NUMBER'}", ERR_VALIDATION, NULL);
	fails(fx, "GetShardIterator", fmt("{'StreamArn':'%s','ShardId':'%s','ShardIteratorType':'AT_SEQUENCE_NUMBER'}", s.arn, s.shard),
		ERR_VALIDATION, NULL);
	fails(fx, "GetShardIterator", fmt("{'StreamArn':'%s','ShardId':'%s','ShardIteratorType':'LATEST',"
		"'SequenceNumber':'100000000000000000000'}", s.arn, s.shard), ERR_VALIDATION, NULL);
	fails(fx, "GetShardIterator", fmt("{'StreamArn':'%s','ShardId':'%s','ShardIteratorType':'AT_SEQUENCE_NUMBER',"
		"'SequenceNumber':'10000000000000000000x'}", s.arn, s.shard), ERR_VALIDATION, NULL);
	iterator_of(&s, "LATEST", NULL, it);
	fails(fx, "GetRecords", fmt("{'ShardIterator':'%s','Limit':1001}", it), ERR_VALIDATION, NULL);
	/* Any damage is noticed, also of the bits behind the last byte: the last letter before the "=" ends in two of them. */
	for (size_t i = 0; i <= strlen(it); i++) {
		char bad[TEXT_MAX];

		memcpy(bad, it, sizeof bad);
		if (i == strlen(it))
			bad[i - 2]++;
		else
			bad[i] = bad[i] == 'A' ? 'B' : 'A';
		struct outcome o = run(fx, "GetRecords", fmt("{'ShardIterator':'%s'}", bad));

		cr_assert_eq(o.code, ERR_VALIDATION, "byte %zu: %s", i, o.json);
	}
	fixture_free(fx);
}

Test(streams, numbers_and_texts)
{
	char text[SEQUENCE_TEXT];
	uint64_t p;

	for (uint64_t x = 1; x != 0; x = x * 3 + 1) {
		sequence_format(x, text);
		cr_assert_eq(strlen(text), 21);
		cr_assert(sequence_parse(slice_str(text), &p));
		cr_assert_eq(p, x);
		if (x > UINT64_MAX / 3 - 1)
			break;
	}
	cr_assert(sequence_parse(SLICE_LIT("99"), &p));
	cr_assert_eq(p, 0);
	cr_assert(sequence_parse(SLICE_LIT("9999999999999999999999999999999999999999"), &p));
	cr_assert_eq(p, UINT64_MAX);
	cr_assert(sequence_parse(SLICE_LIT("0000100000000000000000007"), &p));
	cr_assert_eq(p, 7);
	cr_assert_not(sequence_parse(SLICE_LIT(""), &p));
	cr_assert_not(sequence_parse(SLICE_LIT("12a"), &p));

	char id[SHARD_ID_TEXT];
	uint32_t number = 0;

	shard_id_format(0xdeadbeef, UINT64_MAX, id);
	cr_assert(shard_id_parse(slice_str(id), &number));
	cr_assert_eq(number, 0xdeadbeef);
	cr_assert_not(shard_id_parse(slice_of(id, strlen(id) - 1), &number));
	cr_assert_not(shard_id_parse(SLICE_LIT("shardId-00000000000000000000-0000000g"), &number));
	cr_assert_not(shard_id_parse(SLICE_LIT("shardid-00000000000000000000-00000000"), &number));
}

Test(streams, pages_are_bounded_in_bytes)
{
	struct fixture *fx = fixture_new(NULL);
	struct followed s;
	char it[TEXT_MAX];
	char *item = malloc(400000);
	unsigned seen = 0, pages = 0;

	create(fx, "tbl", "NEW_IMAGE");
	follow(&s, fx, "tbl");
	for (int i = 0; i < 6; i++) {
		int n = sprintf(item, "{'TableName':'tbl','Item':{'p':{'S':'a'},'c':{'N':'%d'},'x':{'S':'", i);

		memset(item + n, 'x', 300000);
		sprintf(item + n + 300000, "'}}}");
		ok(fx, "PutItem", item, NULL);
	}
	iterator_of(&s, "TRIM_HORIZON", NULL, it);
	for (; pages < 10 && seen < 6; pages++) {
		unsigned n = count_of(read_on(&s, it, 1000).json, "eventName");

		cr_assert_leq(n, 3);
		cr_assert_geq(n, 1);
		seen += n;
	}
	cr_assert_eq(seen, 6);
	cr_assert_eq(pages, 2);
	free(item);
	fixture_free(fx);
}

/* ---- the life of streams ---- */

Test(streams, a_disabled_stream_stays_and_a_new_one_is_another)
{
	struct fixture *fx = fixture_new(NULL);
	struct followed old, new;
	char it[TEXT_MAX];

	create(fx, "tbl", "KEYS_ONLY");
	follow(&old, fx, "tbl");
	put(fx, "tbl", 1, "");
	iterator_of(&old, "TRIM_HORIZON", NULL, it);
	fails(fx, "UpdateTable", "{'TableName':'tbl','StreamSpecification':{'StreamEnabled':true,'StreamViewType':'NEW_IMAGE'}}",
		ERR_VALIDATION, NULL);
	ok(fx, "UpdateTable", "{'TableName':'tbl','StreamSpecification':{'StreamEnabled':false}}", NULL);
	put(fx, "tbl", 2, "");
	struct outcome o = run(fx, "DescribeStream", fmt("{'StreamArn':'%s'}", old.arn));

	cr_assert_eq(count_of(o.json, "\"StreamStatus\":\"DISABLED\""), 1, "%s", o.json);
	cr_assert_eq(count_of(o.json, "EndingSequenceNumber"), 1);
	o = read_on(&old, it, 1000);
	cr_assert_eq(count_of(o.json, "eventName"), 1);
	cr_assert_eq(it[0], '\0', "the shard has ended");
	ok(fx, "UpdateTable", "{'TableName':'tbl','StreamSpecification':{'StreamEnabled':true,'StreamViewType':'NEW_IMAGE'}}", NULL);
	follow(&new, fx, "tbl");
	cr_assert_str_neq(old.arn, new.arn);
	cr_assert_eq(count_of(read_all(&new).json, "eventName"), 0);
	put(fx, "tbl", 3, "");
	cr_assert_eq(count_of(read_all(&new).json, "eventName"), 1);
	cr_assert_eq(count_of(read_all(&old).json, "eventName"), 1);
	ok(fx, "DeleteTable", "{'TableName':'tbl'}", NULL);
	cr_assert_eq(count_of(run(fx, "ListStreams", "{'TableName':'tbl'}").json, "StreamLabel"), 2);
	cr_assert_eq(count_of(read_all(&new).json, "eventName"), 1);
	/* A day later they are gone. */
	store_clock_advance(fixture_store(fx), 25 * HOUR_MS);
	ok(fx, "ListStreams", "{}", "{'Streams':[]}");
	fails(fx, "DescribeStream", fmt("{'StreamArn':'%s'}", old.arn), ERR_RESOURCE_NOT_FOUND, NULL);
	fixture_free(fx);
}

Test(streams, lists_in_pages)
{
	struct fixture *fx = fixture_new(NULL);
	char last[TEXT_MAX];
	unsigned seen = 0;

	for (int i = 0; i < 5; i++) {
		char name[16];

		snprintf(name, sizeof name, "tbl%d", i);
		create(fx, name, "KEYS_ONLY");
	}
	struct outcome o = run(fx, "ListStreams", "{'Limit':2}");

	for (;;) {
		seen += count_of(o.json, "StreamLabel");
		if (!text_of(o.json, "LastEvaluatedStreamArn", 0, last))
			break;
		cr_assert_eq(count_of(o.json, last), 2, "the last of the page: %s", o.json);
		o = run(fx, "ListStreams", fmt("{'Limit':2,'ExclusiveStartStreamArn':'%s'}", last));
	}
	cr_assert_eq(seen, 5);
	fails(fx, "ListStreams", "{'Limit':101}", ERR_VALIDATION, NULL);
	fixture_free(fx);
}

Test(streams, iterators_and_records_age)
{
	struct fixture *fx = fixture_with(&(struct store_opts){ .keeper_ms = 10 });
	struct followed s;
	char it[TEXT_MAX], young[TEXT_MAX], number[TEXT_MAX];

	create(fx, "tbl", "KEYS_ONLY");
	follow(&s, fx, "tbl");
	put(fx, "tbl", 1, "");
	iterator_of(&s, "TRIM_HORIZON", NULL, it);
	struct outcome o = read_on(&s, it, 1000);

	text_of(o.json, "SequenceNumber", 0, number);
	store_clock_advance(fixture_store(fx), 16 * 60 * 1000);
	put(fx, "tbl", 2, "");
	o = read_on(&s, it, 1000);
	cr_assert_eq(o.code, ERR_EXPIRED_ITERATOR, "%s", o.json);
	iterator_of(&s, "AFTER_SEQUENCE_NUMBER", number, it);
	cr_assert_eq(count_of(read_on(&s, it, 1000).json, "eventName"), 1);
	/* A record that ages under an iterator that stands before it is missed, and said to be. */
	store_clock_advance(fixture_store(fx), 24 * HOUR_MS - 17 * 60 * 1000);
	iterator_of(&s, "AT_SEQUENCE_NUMBER", number, young);
	store_clock_advance(fixture_store(fx), 2 * 60 * 1000);
	o = read_on(&s, young, 1000);
	cr_assert_eq(o.code, ERR_TRIMMED_DATA, "%s", o.json);
	cr_assert_eq(count_of(read_all(&s).json, "eventName"), 1);
	o = run(fx, "GetShardIterator", fmt("{'StreamArn':'%s','ShardId':'%s','ShardIteratorType':'AT_SEQUENCE_NUMBER',"
		"'SequenceNumber':'%s'}", s.arn, s.shard, number));
	cr_assert_eq(o.code, ERR_TRIMMED_DATA, "%s", o.json);
	/* An idle stream's reader stays in step over days. */
	iterator_of(&s, "LATEST", NULL, it);
	for (int i = 0; i < 200; i++) {
		store_clock_advance(fixture_store(fx), 14 * 60 * 1000);
		o = read_on(&s, it, 1000);
		cr_assert_eq(o.code, ERR_OK, "%s", o.json);
	}
	put(fx, "tbl", 3, "");
	cr_assert_eq(count_of(read_on(&s, it, 1000).json, "eventName"), 1);
	fixture_free(fx);
}

/* ---- restarts ---- */

Test(streams, records_and_their_order_survive_a_restart)
{
	char dir[] = "/tmp/dynax-streams-XXXXXX", it[TEXT_MAX], before[TEXT_MAX], after[TEXT_MAX];
	struct followed s;

	cr_assert_not_null(mkdtemp(dir));
	struct fixture *fx = fixture_new(dir);

	create(fx, "tbl", "NEW_AND_OLD_IMAGES");
	follow(&s, fx, "tbl");
	/* The clock was an hour ahead before the restart: positions must go on from there all the same. */
	store_clock_advance(fixture_store(fx), HOUR_MS);
	put(fx, "tbl", 1, "");
	iterator_of(&s, "TRIM_HORIZON", NULL, it);
	struct outcome o = read_on(&s, it, 1000);

	text_of(o.json, "SequenceNumber", 0, before);
	fixture_reopen(fx);
	put(fx, "tbl", 2, "");
	o = read_on(&s, it, 1000);
	cr_assert_eq(count_of(o.json, "eventName"), 1, "%s", o.json);
	text_of(o.json, "SequenceNumber", 0, after);
	cr_assert_lt(strcmp(before, after), 0);
	cr_assert_eq(count_of(read_all(&s).json, "eventName"), 2);
	fixture_free(fx);
	cr_assert_eq(system(fmt("rm -rf %s", dir)), 0);
}

/* ---- trimming ---- */

static unsigned records_kept(struct fixture *fx, uint32_t shard)
{
	uint8_t lo[STREAM_RECORD_KEY], hi[STREAM_RECORD_KEY];
	struct slice key, value;
	struct view *v;
	struct cursor *c;
	unsigned n = 0;

	cr_assert_eq(view_open(fixture_store(fx)->engine, &v, NULL), ERR_OK);
	cr_assert_eq(cursor_open(v, stream_record_key(shard, 0, lo), stream_record_key(shard, UINT64_MAX, hi), false, &c, NULL), ERR_OK);
	while (cursor_next(c, &key, &value, NULL) == ERR_OK && slice_present(key))
		n++;
	cursor_close(&c);
	view_close(&v);
	return n;
}

/* Old records leave the engine itself, and no others; a stream that ended leaves wholly. */
Test(streams, what_is_old_is_freed)
{
	char dir[] = "/tmp/dynax-streams-XXXXXX";
	struct followed s;
	unsigned id;

	cr_assert_not_null(mkdtemp(dir));
	struct fixture *fx = fixture_with(&(struct store_opts){ .keeper_ms = 10, .engine.dir = dir });

	create(fx, "tbl", "NEW_IMAGE");
	follow(&s, fx, "tbl");
	cr_assert_eq(sscanf(strrchr(s.shard, '-'), "-%x", &id), 1);
	for (int i = 0; i < 50; i++)
		put(fx, "tbl", i, "");
	store_clock_advance(fixture_store(fx), 30 * HOUR_MS);
	for (int i = 0; i < 7; i++)
		put(fx, "tbl", 100 + i, "");
	usleep(200 * 1000);
	/* What has been dropped is freed between checkpoints, the last of which closing makes. */
	fixture_reopen(fx);
	for (int ms = 0; records_kept(fx, id) != 7; ms += 10) {
		cr_assert_lt(ms, 10000, "%u records are kept", records_kept(fx, id));
		usleep(10 * 1000);
	}
	store_clock_advance(fixture_store(fx), 30 * HOUR_MS);
	ok(fx, "DeleteTable", "{'TableName':'tbl'}", NULL);
	store_clock_advance(fixture_store(fx), 30 * HOUR_MS);
	usleep(200 * 1000);
	fixture_reopen(fx);
	for (int ms = 0; records_kept(fx, id) != 0; ms += 10) {
		cr_assert_lt(ms, 10000, "%u records are kept", records_kept(fx, id));
		usleep(10 * 1000);
	}
	ok(fx, "ListStreams", "{}", "{'Streams':[]}");
	fixture_free(fx);
	cr_assert_eq(system(fmt("rm -rf %s", dir)), 0);
}
