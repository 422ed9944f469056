/* autoscale - provisioned throughput that follows what is consumed: target tracking, for reads and writes of a table or global
 * index each by itself.
 *
 *    minutely.h: a minute has ended --> judge --> another throughput --> catalog
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
 * Threads: the keeper judges, the writer changes. */
#ifndef DYNAX_STORE_AUTOSCALE_H
#define DYNAX_STORE_AUTOSCALE_H

#include "store/minutely.h"

enum { AUTOSCALE_OUT_MINUTES = 2, AUTOSCALE_IN_MINUTES = 15, AUTOSCALE_IN_POINTS = 20 };

int64_t autoscale_within(const struct autoscale_row *r, int64_t units);

static inline bool autoscale_wanted(const struct catalog_table *t)
{
	return t->facts.scaled != 0 && !t->table.on_demand;
}

/* What the minute before m->judged makes of a table or global index; how many changes. */
unsigned autoscale_changes(const struct catalog_table *t, uint32_t owner, const struct minutes *m, uint64_t ms,
	struct minutely_change change[METER_USES]);
/* autoscale_settings.c: carry one out. ERR_LIMIT_EXCEEDED, ERR_RESOURCE_IN_USE: A5. */
enum err autoscale_apply(struct write_batch *b, struct store_write *w) __attribute__((warn_unused_result));

/* ---- on the writer: the rows of a table that is being changed ---- */

struct table_edit;

enum { AUTOSCALE_TARGET_LEAST = 20, AUTOSCALE_TARGET_MOST = 90, AUTOSCALE_COOLDOWN_MOST_S = 86400 };

/* A copy of the rows, with room for one more; the draft's from now on. */
enum err autoscale_rows_take(struct table_edit *e, struct autoscale_row **rows, struct fault *f) __attribute__((warn_unused_result));
/* NULL if there is none. */
struct autoscale_row *autoscale_row_find(struct autoscale_row *rows, unsigned n, uint32_t owner, unsigned use);
/* The one that is there, or a new one, which has a range yet to get. */
struct autoscale_row *autoscale_row_make(struct table_edit *e, struct autoscale_row *rows, uint32_t owner, unsigned use);
void autoscale_row_remove(struct catalog_facts *facts, struct autoscale_row *rows, struct autoscale_row *r);
/* A4. What cannot be changed now waits. */
enum err autoscale_bring_inside(struct table_edit *e, struct autoscale_row *r, struct fault *f) __attribute__((warn_unused_result));
/* The id of a table or its index by name; 0 if there is no such index. */
uint32_t autoscale_owner(const struct table *t, struct slice index);

/* The rows of facts without those of an index that goes, in the arena; false if memory is out. */
bool autoscale_rows_drop(struct catalog_facts *facts, uint32_t owner, struct arena *a) __attribute__((warn_unused_result));

#endif
