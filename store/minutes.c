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

void minutes_look(struct minutes *m, const uint64_t used[MINUTES_USES], uint64_t second)
{
	uint64_t minute = second / MINUTE_S, from;

	if (!m->begun) {
		m->begun = true;
		m->first = m->now = m->judged = minute;
	}
	for (unsigned use = 0; use < MINUTES_USES; use++) {
		m->used[use][m->now % MINUTES_KEPT] += used[use] - m->seen[use];
		m->seen[use] = used[use];
	}
	from = minute > m->now + MINUTES_KEPT ? minute - MINUTES_KEPT : m->now;
	while (from < minute)
		begin(m, ++from);
	if (minute > m->now)
		m->now = minute;
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
