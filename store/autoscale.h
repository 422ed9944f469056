/* autoscale - provisioned throughput that follows what is consumed: target tracking, for reads and writes of a table or global
 * index each by itself.
 *
 *    minutes (minutes.h) --keeper, at the end of each--> judge --> another throughput --own_write--> catalog
 *
 * U is the target utilisation in percent, P what is provisioned, C what a minute has consumed, in units a second.
 *
 * A1. Scale out: C was above U of P in each of 2 minutes. Scale in: C was 20 points or more below U, of P, in each of 15.
 * A2. To C / U, rounded up, of the greatest C among those minutes, kept between minimum and maximum: out at once for all that
 *     is needed, in with caution.
 * A3. After scaling out no other scaling out for the cooldown that is set for it; the same for scaling in.
 * A4. What is outside of minimum and maximum is brought inside at once, whatever the cooldowns say: when they are set, and at
 *     the end of any minute.
 * A5. Scaling in is a decrease (decreases.h). If there is none left, or the table is not ACTIVE (table_state.h), nothing happens,
 *     and the next minute is judged again.
 * A6. On demand, and while an index is being filled, nothing happens; settings stay.
 *
 * Sources: "Managing throughput capacity automatically with DynamoDB auto scaling" (two minutes, fifteen, 20 to 90 percent), "Using
 * the AWS CLI to manage DynamoDB auto scaling" (cooldowns; 150 consumed, target 70: 215), and "Why isn't auto scaling on my
 * DynamoDB table working as expected?" in the AWS Knowledge Center (20 points: 50 for a target of 70). Not published are which
 * of the minutes counts, and that a minute without requests counts as nothing consumed.
 * Threads: the keeper judges, the writer changes; autoscale_judge is pure. */
#ifndef DYNAX_STORE_AUTOSCALE_H
#define DYNAX_STORE_AUTOSCALE_H

#include "store/minutes.h"
#include "store/store_int.h"
#include "store/units.h"

struct keeper;
struct write_batch;

enum { AUTOSCALE_OUT_MINUTES = 2, AUTOSCALE_IN_MINUTES = 15, AUTOSCALE_IN_POINTS = 20 };

/* What should be provisioned after the minute that ends at `end` (a minute of m): `units`, if nothing is to change. end_ms: the
 * same moment in Unix time. */
int64_t autoscale_judge(const struct autoscale_row *r, int64_t units, const struct minutes *m, uint64_t end, uint64_t end_ms);

int64_t autoscale_within(const struct autoscale_row *r, int64_t units);

/* The units that a row is about: read or written. */
static inline int64_t *autoscale_units(struct units *u, unsigned use)
{
	return use == METER_READ ? &u->read : &u->write;
}

/* What is to be done: provision so many units, as of a moment in Unix time. On the writer; ERR_LIMIT_EXCEEDED, ERR_RESOURCE_IN_USE: A5. */
struct autoscale_change {
	uint32_t table, owner;
	unsigned use;
	int64_t units;
	uint64_t ms;
};
enum err autoscale_change_apply(struct write_batch *b, struct store_write *w) __attribute__((warn_unused_result));

/* The rows of facts without those of an index that goes, in the arena; false if memory is out. */
bool autoscale_rows_drop(struct catalog_facts *facts, uint32_t owner, struct arena *a) __attribute__((warn_unused_result));

/* Look at what was consumed, of all tables. */
void autoscale_look(struct store *s);
/* Judge the minutes that have ended, of all tables, and do what follows. */
void autoscale_tend(struct keeper *k);

#endif
