/* decreases - see decreases.h. */
#include "store/decreases.h"

#include <stdio.h>
#include <time.h>

#include "protocol/messages.h"

enum { FREE_DECREASES = 4, DATE_TEXT = 128 };
#define DAY_MS UINT64_C(86400000)
#define WAIT_MS UINT64_C(3600000)

const struct throughput_past *throughput_past_of(const struct catalog_facts *facts, uint32_t id)
{
	for (unsigned i = 0; i < facts->pasts; i++)
		if (facts->past[i].id == id)
			return &facts->past[i];
	return NULL;
}

unsigned decreases_today(const struct throughput_past *p, uint64_t now_ms)
{
	return p != NULL && p->decreased_ms / DAY_MS == now_ms / DAY_MS ? p->decreases : 0;
}

/* Friday, October 9, 2026 at 1:21:34 AM Coordinated Universal Time */
static void date(uint64_t ms, char out[DATE_TEXT])
{
	time_t s = (time_t)(ms / 1000);
	char day[32], clock[16];
	struct tm tm;

	gmtime_r(&s, &tm);
	strftime(day, sizeof day, "%A, %B", &tm);
	strftime(clock, sizeof clock, "%M:%S %p", &tm);
	snprintf(out, DATE_TEXT, "%s %d, %d at %d:%s Coordinated Universal Time", day, tm.tm_mday, tm.tm_year + 1900,
		(tm.tm_hour + 11) % 12 + 1, clock);
}

static enum err check(const struct throughput_past *p, uint64_t now, struct fault *f)
{
	uint64_t again = p->decreased_ms + WAIT_MS, midnight = (now / DAY_MS + 1) * DAY_MS;
	char last[DATE_TEXT], next[DATE_TEXT];

	if (decreases_today(p, now) < FREE_DECREASES || now >= again)
		return ERR_OK;
	date(p->decreased_ms, last);
	date(again < midnight ? again : midnight, next);
	return fault_set(f, MSG_DECREASES, decreases_today(p, now), last, next);
}

/* A copy of the facts' list with a place for `id`, which may be in it. */
static struct throughput_past *open_place(struct catalog_facts *facts, uint32_t id, struct arena *a)
{
	struct throughput_past *copy = arena_alloc(a, (facts->pasts + 1) * sizeof *copy);
	unsigned at = 0;

	if (copy == NULL)
		return NULL;
	if (facts->pasts != 0)
		memcpy(copy, facts->past, facts->pasts * sizeof *copy);
	while (at < facts->pasts && copy[at].id != id)
		at++;
	if (at == facts->pasts) {
		copy[at] = (struct throughput_past){ .id = id };
		facts->pasts++;
	}
	facts->past = copy;
	return &copy[at];
}

enum err decreases_note(const struct store *s, struct catalog_facts *facts, uint32_t id, struct units from, struct units to,
	struct arena *a, struct fault *f)
{
	bool down = to.read < from.read || to.write < from.write, up = to.read > from.read || to.write > from.write;
	uint64_t now = store_now_ms(s);
	struct throughput_past *p;
	enum err rc;

	if (!down && !up)
		return ERR_OK;
	p = open_place(facts, id, a);
	if (p == NULL)
		return fault_set(f, MSG_NO_MEMORY);
	if (down) {
		rc = capacity_enforced(s->capacity) ? check(p, now, f) : ERR_OK;
		if (rc != ERR_OK)
			return rc;
		p->decreases = decreases_today(p, now) + 1;
		p->decreased_ms = now;
	}
	if (up)
		p->increased_ms = now;
	return ERR_OK;
}
