/* test_autoscale - provisioned throughput follows consumption (A1 to A6), against a plain model of target tracking. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "protocol/capacity.h"
#include "store/autoscale.h"
#include "store/throughput.h"
#include "tests/unit/store/fixture.h"

static void create(struct fixture *fx, unsigned units)
{
	char body[1024];

	snprintf(body, sizeof body, "{'TableName':'tab','KeySchema':[{'AttributeName':'pk','KeyType':'HASH'}],"
		"'AttributeDefinitions':[{'AttributeName':'pk','AttributeType':'S'}],"
		"'ProvisionedThroughput':{'ReadCapacityUnits':%u,'WriteCapacityUnits':%u},"
		"'GlobalSecondaryIndexes':[{'IndexName':'gsi','KeySchema':[{'AttributeName':'pk','KeyType':'HASH'}],"
		"'Projection':{'ProjectionType':'ALL'},'ProvisionedThroughput':{'ReadCapacityUnits':%u,'WriteCapacityUnits':%u}}]}",
		units, units, units, units);
	ok(fx, "CreateTable", body, NULL);
}

static struct fixture *still(enum capacity_mode mode)
{
	return fixture_with(&(struct store_opts){ .still_clock = true, .capacity = mode });
}

static void set(struct fixture *fx, const struct store_autoscale *a)
{
	cr_assert_eq(store_autoscale_set(fixture_store(fx), SLICE_LIT("tab"), a, NULL), ERR_OK);
}

/* Half units, at once. */
static void consume(struct fixture *fx, bool index, enum meter_use use, uint64_t halves)
{
	struct store_reader *r = fixture_reader(fx);
	const struct table *t = store_table(r, SLICE_LIT("tab"));

	throughput_charge(fixture_store(fx), t, index ? &t->index[0] : NULL, 0, use, halves);
	store_reader_quiesce(r);
}

static void advance(struct fixture *fx, unsigned seconds)
{
	store_clock_advance(fixture_store(fx), seconds * UINT64_C(1000));
}

struct wanted {
	bool index, write;
	struct store_autoscale found;
	unsigned rows;
};

static void note(void *arg, const struct store_autoscale *a)
{
	struct wanted *w = arg;

	w->rows++;
	if (slice_present(a->index) == w->index && a->write == w->write)
		w->found = *a;
}

static struct wanted list(struct fixture *fx, bool index, bool write)
{
	struct wanted w = { .index = index, .write = write };

	cr_assert_eq(store_autoscale_list(fixture_store(fx), SLICE_LIT("tab"), note, &w, NULL), ERR_OK);
	return w;
}

static int64_t units(struct fixture *fx, bool index, bool write)
{
	return list(fx, index, write).found.units;
}

static bool described(struct fixture *fx, const char *text)
{
	return strstr(run(fx, "DescribeTable", "{'TableName':'tab'}").json, text) != NULL;
}

#define TRACK(w, least, most, ...) &(struct store_autoscale){ .write = w, .min = least, .max = most, .target = __VA_ARGS__ }
enum { MINUTE_OF_ONE = 60 * CAPACITY_HALVES };   /* half units: one unit a second, for a minute */

/* The guide's example: 200 provisioned, target 70, 150 consumed: 215. */
Test(autoscale, out_after_two_minutes)
{
	struct fixture *fx = still(CAPACITY_ACCOUNT);

	create(fx, 200);
	set(fx, TRACK(false, 5, 1000, 70));
	advance(fx, 60);
	consume(fx, false, METER_READ, 150 * MINUTE_OF_ONE);
	advance(fx, 60);
	cr_assert_eq(units(fx, false, false), 200, "one minute is not enough");
	consume(fx, false, METER_READ, 149 * MINUTE_OF_ONE);
	advance(fx, 60);
	cr_assert_eq(units(fx, false, false), 215);
	cr_assert(described(fx, "LastIncreaseDateTime"));
	cr_assert(described(fx, "\"ReadCapacityUnits\":215,\"WriteCapacityUnits\":200}"));
	cr_assert(described(fx, "\"WarmThroughput\":{\"ReadUnitsPerSecond\":215,"));
	fixture_free(fx);
}

/* Not at 140 of 200 and a target of 70. */
Test(autoscale, target_itself_is_fine)
{
	struct fixture *fx = still(CAPACITY_ACCOUNT);

	create(fx, 200);
	set(fx, TRACK(false, 5, 1000, 70));
	for (unsigned i = 0; i < 5; i++) {
		advance(fx, 60);
		consume(fx, false, METER_READ, 140 * MINUTE_OF_ONE);
	}
	cr_assert_eq(units(fx, false, false), 200);
	fixture_free(fx);
}

/* 20 points below 50 of 100 are 30. */
Test(autoscale, in_after_fifteen_minutes)
{
	struct fixture *fx = still(CAPACITY_ACCOUNT);

	create(fx, 100);
	set(fx, &(struct store_autoscale){ .index = SLICE_LIT("gsi"), .write = true, .min = 5, .max = 1000, .target = 50 });
	for (unsigned i = 0; i < 14; i++) {
		consume(fx, true, METER_WRITE, (i == 7 ? 30 : 10) * MINUTE_OF_ONE);
		advance(fx, 60);
	}
	cr_assert_eq(units(fx, true, true), 100);
	advance(fx, 60);
	cr_assert_eq(units(fx, true, true), 60, "the greatest of the fifteen");
	cr_assert(described(fx, "\"NumberOfDecreasesToday\":1,\"ReadCapacityUnits\":100,\"WriteCapacityUnits\":60}"));
	advance(fx, 15 * 60);
	cr_assert_eq(units(fx, true, true), 5);
	fixture_free(fx);
}

Test(autoscale, cooldown)
{
	struct fixture *fx = still(CAPACITY_ACCOUNT);

	create(fx, 10);
	set(fx, TRACK(true, 5, 1000, 50, .out_cooldown_s = 300));
	consume(fx, false, METER_WRITE, 10 * MINUTE_OF_ONE);
	advance(fx, 60);
	consume(fx, false, METER_WRITE, 10 * MINUTE_OF_ONE);
	advance(fx, 60);
	cr_assert_eq(units(fx, false, true), 20);
	for (unsigned i = 0; i < 4; i++) {
		consume(fx, false, METER_WRITE, 50 * MINUTE_OF_ONE);
		advance(fx, 60);
		cr_assert_eq(units(fx, false, true), 20, "it rests");
	}
	consume(fx, false, METER_WRITE, 40 * MINUTE_OF_ONE);
	advance(fx, 60);
	cr_assert_eq(units(fx, false, true), 100);
	fixture_free(fx);
}

/* A4: at once when it is set, and when somebody else has moved it out. */
Test(autoscale, range)
{
	struct fixture *fx = still(CAPACITY_ACCOUNT);

	create(fx, 100);
	set(fx, TRACK(false, 150, 200, 50));
	cr_assert_eq(units(fx, false, false), 150);
	set(fx, TRACK(false, 10, 20, 50));
	cr_assert_eq(units(fx, false, false), 20);
	ok(fx, "UpdateTable", "{'TableName':'tab','ProvisionedThroughput':{'ReadCapacityUnits':3,'WriteCapacityUnits':100}}", NULL);
	advance(fx, 60);
	cr_assert_eq(units(fx, false, false), 10);
	consume(fx, false, METER_READ, 500 * MINUTE_OF_ONE);
	advance(fx, 60);
	consume(fx, false, METER_READ, 500 * MINUTE_OF_ONE);
	advance(fx, 60);
	cr_assert_eq(units(fx, false, false), 20);
	fixture_free(fx);
}

static uint64_t last_in(struct fixture *fx)
{
	const struct catalog_table *t = reader_catalog_table(fixture_reader(fx), SLICE_LIT("tab"));
	uint64_t ms = t->facts.scale[0].in_ms;

	store_reader_quiesce(fixture_reader(fx));
	return ms;
}

/* A5: four decreases a day; then it waits for the hour to pass. */
Test(autoscale, decreases_wait)
{
	struct fixture *fx = still(CAPACITY_DECLARED);
	struct store *s = fixture_store(fx);

	create(fx, 100);
	store_clock_advance(s, 86400000 - store_now_ms(s) % 86400000 + 3600000); /* one in the morning */
	for (unsigned to = 99; to > 95; to--)
		set(fx, TRACK(false, 5, to, 50));
	cr_assert_eq(units(fx, false, false), 96);
	uint64_t last = last_in(fx);

	advance(fx, 60);
	set(fx, TRACK(false, 5, 50, 50));
	cr_assert_eq(units(fx, false, false), 96, "there is none left");
	cr_assert_eq(last_in(fx), last);
	for (unsigned i = 0; i < 58; i++)
		advance(fx, 60);
	cr_assert_eq(units(fx, false, false), 96);
	cr_assert(described(fx, "\"NumberOfDecreasesToday\":4"));
	advance(fx, 60);
	cr_assert_eq(units(fx, false, false), 50);
	cr_assert(described(fx, "\"NumberOfDecreasesToday\":5"));
	fixture_free(fx);
}

/* A6, and settings outlive the process and the billing mode, but not their index. */
Test(autoscale, settings)
{
	char dir[] = "/tmp/dynax-autoscale-XXXXXX", command[128];
	struct fixture *fx;
	struct fault f;
	struct arena a;

	cr_assert_not_null(mkdtemp(dir));
	fx = fixture_with(&(struct store_opts){ .still_clock = true, .engine.dir = dir });
	arena_init(&a, 0);
	fault_init(&f, &a);
	create(fx, 10);
	set(fx, TRACK(true, 1, 1000, 50));
	set(fx, &(struct store_autoscale){ .index = SLICE_LIT("gsi"), .min = 7, .max = 9, .target = 90, .in_cooldown_s = 1,
		.out_cooldown_s = 2 });
	ok(fx, "UpdateTable", "{'TableName':'tab','BillingMode':'PAY_PER_REQUEST'}", NULL);
	for (unsigned i = 0; i < 20; i++)
		advance(fx, 60);
	cr_assert(described(fx, "\"ReadCapacityUnits\":0,\"WriteCapacityUnits\":0}"));
	fixture_reopen(fx);
	struct wanted w = list(fx, true, false);

	cr_assert_eq(w.rows, 2);
	cr_assert(slice_eq(w.found.index, SLICE_LIT("gsi")));
	cr_assert(w.found.min == 7 && w.found.max == 9 && w.found.target == 90 && w.found.in_cooldown_s == 1 && w.found.out_cooldown_s == 2);
	ok(fx, "UpdateTable", "{'TableName':'tab','BillingMode':'PROVISIONED','ProvisionedThroughput':{'ReadCapacityUnits':50,"
		"'WriteCapacityUnits':50},'GlobalSecondaryIndexUpdates':[{'Update':{'IndexName':'gsi','ProvisionedThroughput':"
		"{'ReadCapacityUnits':50,'WriteCapacityUnits':50}}}]}", NULL);
	advance(fx, 60);
	cr_assert_eq(units(fx, true, false), 9);
	for (unsigned i = 0; i < 15; i++)
		advance(fx, 60);
	cr_assert_eq(units(fx, false, true), 1);
	cr_assert_eq(units(fx, true, false), 7);
	ok(fx, "UpdateTable", "{'TableName':'tab','GlobalSecondaryIndexUpdates':[{'Delete':{'IndexName':'gsi'}}]}", NULL);
	cr_assert_eq(list(fx, true, false).rows, 1);
	set(fx, &(struct store_autoscale){ .write = true });
	cr_assert_eq(list(fx, true, false).rows, 0);
	struct store *s = fixture_store(fx);

	cr_assert_eq(store_autoscale_set(s, SLICE_LIT("none"), TRACK(false, 5, 1000, 50), &f), ERR_RESOURCE_NOT_FOUND);
	cr_assert_eq(store_autoscale_set(s, SLICE_LIT("tab"), TRACK(false, 5, 1000, 50, .index = SLICE_LIT("gsi")), &f), ERR_VALIDATION);
	cr_assert_str_eq(f.text, "The table does not have the specified index: gsi");
	cr_assert_eq(store_autoscale_set(s, SLICE_LIT("tab"), TRACK(false, 5, 1000, 19), &f), ERR_VALIDATION);
	cr_assert_str_eq(f.text, "The target is from 20 to 90 percent");
	cr_assert_eq(store_autoscale_set(s, SLICE_LIT("tab"), TRACK(false, 1001, 1000, 50), &f), ERR_VALIDATION);
	cr_assert_eq(store_autoscale_set(s, SLICE_LIT("tab"), TRACK(false, 0, 1000, 50), &f), ERR_VALIDATION);
	cr_assert_eq(store_autoscale_set(s, SLICE_LIT("tab"), TRACK(false, 1, INT64_MAX, 50), &f), ERR_VALIDATION);
	cr_assert_eq(store_autoscale_set(s, SLICE_LIT("tab"), TRACK(false, 5, 1000, 50, .in_cooldown_s = 100000), &f), ERR_VALIDATION);
	arena_release(&a);
	fixture_free(fx);
	snprintf(command, sizeof command, "rm -r %s", dir);
	cr_assert_eq(system(command), 0);
}

/* ---- random load ---- */

enum { MODEL_MINUTES = 1200 };

/* Target tracking in plain words, of the whole of the past. */
struct model {
	struct store_autoscale set;
	int64_t provisioned;
	uint64_t halves[MODEL_MINUTES];
	unsigned minutes;                /* that have ended */
	long last_in, last_out;          /* minutes; -1 = never */
};

static double utilisation(const struct model *m, unsigned minute)
{
	return 100.0 * (double)m->halves[minute] / MINUTE_OF_ONE / (double)m->provisioned;
}

/* fit: rounded up, but for what the division leaves behind whole numbers. */
static void model_set(struct model *m, double fit)
{
	int64_t to = (int64_t)fit + ((double)(int64_t)fit < fit - 1e-9);

	to = to < m->set.min ? m->set.min : to > m->set.max ? m->set.max : to;
	if (to > m->provisioned)
		m->last_out = m->minutes;
	else if (to < m->provisioned)
		m->last_in = m->minutes;
	m->provisioned = to;
}

static bool cooled(const struct model *m, long last, unsigned cooldown_s)
{
	return last < 0 || (m->minutes - last) * 60 >= (long)cooldown_s;
}

static double most(const struct model *m, unsigned n)
{
	uint64_t h = 0;

	for (unsigned i = m->minutes - n; i < m->minutes; i++)
		h = m->halves[i] > h ? m->halves[i] : h;
	return (double)h / MINUTE_OF_ONE * 100 / m->set.target;
}

/* A minute has ended. */
static void model_end(struct model *m)
{
	bool high = true, low = true;

	m->minutes++;
	for (unsigned i = 1; i <= 15 && i <= m->minutes; i++) {
		double u = utilisation(m, m->minutes - i);

		high &= i > 2 || u > m->set.target + 1e-9;
		low &= u <= m->set.target - 20 + 1e-9;
	}
	if (high && m->minutes >= 2 && cooled(m, m->last_out, m->set.out_cooldown_s))
		model_set(m, most(m, 2));
	else if (low && m->minutes >= 15 && cooled(m, m->last_in, m->set.in_cooldown_s) && most(m, 15) < (double)m->provisioned)
		model_set(m, most(m, 15));
}

static unsigned seed(void)
{
	const char *s = getenv("SEED");
	unsigned v = s != NULL ? (unsigned)strtoul(s, NULL, 10) : (unsigned)time(NULL);

	printf("SEED=%u\n", v);
	return v;
}

static struct store_autoscale any_settings(unsigned *rnd, bool write, bool index)
{
	struct store_autoscale a = { .write = write, .min = 1 + rand_r(rnd) % 50, .target = 20 + (unsigned)rand_r(rnd) % 71,
		.in_cooldown_s = (unsigned)rand_r(rnd) % 3 * 200, .out_cooldown_s = (unsigned)rand_r(rnd) % 3 * 100 };

	a.max = a.min + rand_r(rnd) % 1000;
	if (index)
		a.index = SLICE_LIT("gsi");
	return a;
}

/* Some minutes: busy in steps, or idle. */
static void some_minutes(struct fixture *fx, struct model *m, bool index, unsigned *rnd, unsigned *level)
{
	unsigned steps = rand_r(rnd) % 4 == 0 ? 3 : 1, idle = rand_r(rnd) % 40 == 0 ? (unsigned)rand_r(rnd) % 25 : 0;
	unsigned long long halves;

	if (rand_r(rnd) % 10 == 0)
		*level = 1 + (unsigned)rand_r(rnd) % 1000;
	for (unsigned i = 0; i < steps; i++) {
		halves = (unsigned long long)*level * (unsigned)rand_r(rnd) % (*level * MINUTE_OF_ONE) / steps;
		consume(fx, index, m->set.write ? METER_WRITE : METER_READ, halves);
		m->halves[m->minutes] += halves;
		advance(fx, i + 1 < steps ? 60 / steps : 60 / steps + idle * 60);
	}
	for (unsigned i = 0; i <= idle; i++)
		model_end(m);
}

Test(autoscale, random_load)
{
	unsigned rnd = seed(), level = 100, changes = 0;

	for (unsigned turn = 0; turn < 4; turn++) {
		struct fixture *fx = still(CAPACITY_ACCOUNT);
		bool index = turn % 2 != 0;
		static struct model m;

		m = (struct model){ .set = any_settings(&rnd, turn / 2 != 0, index), .provisioned = 30, .last_in = -1, .last_out = -1 };
		create(fx, 30);
		advance(fx, 60 - (unsigned)(clock_seconds(&fixture_store(fx)->clock) % 60));
		/* What has gone before is an idle minute. */
		m.minutes = 1;
		set(fx, &m.set);
		model_set(&m, 30);
		while (m.minutes < 150) {
			int64_t before = m.provisioned;

			some_minutes(fx, &m, index, &rnd, &level);
			cr_assert_eq(units(fx, index, m.set.write), m.provisioned, "turn %u, minute %u: %lld, not %lld", turn, m.minutes,
				(long long)units(fx, index, m.set.write), (long long)m.provisioned);
			changes += m.provisioned != before;
		}
		fixture_free(fx);
	}
	cr_assert_gt(changes, 0);
}
