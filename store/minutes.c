/* minutes - see minutes.h. */
#include "store/minutes.h"

/* A minute takes the place of one that is kept no longer. */
static void begin(struct minutes *m, uint64_t minute)
{
	for (unsigned use = 0; use < MINUTES_USES; use++) {
		uint64_t *used = &m->used[use][minute % MINUTES_KEPT];

		if (*used > m->before[use])
			m->before[use] = *used;
		*used = 0;
	}
}

/* Of what has come since the last look, what had come until `end`, if it came evenly until `second`. */
static uint64_t until(const struct minutes *m, uint64_t came, uint64_t end, uint64_t second)
{
	return end >= second ? came : came * (end - m->second) / (second - m->second);
}

/* Put what has come down to the minutes since the last look. More of them than are kept are not gone through. */
static void spread(struct minutes *m, const uint64_t came[MINUTES_USES], uint64_t second)
{
	uint64_t last = second / MINUTE_S, done[MINUTES_USES] = { 0 };

	for (;;) {
		for (unsigned use = 0; use < MINUTES_USES; use++) {
			uint64_t sum = until(m, came[use], (m->now + 1) * MINUTE_S, second);

			m->used[use][m->now % MINUTES_KEPT] += sum - done[use];
			done[use] = sum;
		}
		if (m->now >= last)
			return;
		uint64_t next = last - m->now > MINUTES_KEPT + 1 ? last - MINUTES_KEPT : m->now + 1;

		for (unsigned use = 0; next != m->now + 1 && use < MINUTES_USES; use++)
			done[use] = until(m, came[use], next * MINUTE_S, second);
		begin(m, next);
		m->now = next;
	}
}

void minutes_look(struct minutes *m, const uint64_t used[MINUTES_USES], uint64_t second)
{
	uint64_t came[MINUTES_USES];

	if (!m->begun) {
		m->begun = true;
		m->second = second;
		m->first = m->now = m->judged = second / MINUTE_S;
	}
	for (unsigned use = 0; use < MINUTES_USES; use++) {
		came[use] = used[use] - m->seen[use];
		m->seen[use] = used[use];
	}
	spread(m, came, second);
	m->second = second;
}

bool minutes_next(struct minutes *m, bool wanted)
{
	if (!wanted || m->judged >= m->now) {
		m->judged = m->now;
		return false;
	}
	if (m->judged < minutes_oldest(m))
		m->judged = minutes_oldest(m);
	m->judged++;
	return true;
}

bool minutes_range(const struct minutes *m, unsigned use, uint64_t end, unsigned n, struct minutes_range *out)
{
	*out = (struct minutes_range){ UINT64_MAX, 0 };
	if (end > m->now || end < minutes_oldest(m) + n)
		return false;
	for (uint64_t minute = end - n; minute < end; minute++) {
		uint64_t used = m->used[use][minute % MINUTES_KEPT];

		out->least = used < out->least ? used : out->least;
		out->most = used > out->most ? used : out->most;
	}
	return true;
}
