/* switches - see switches.h. */
#include "store/switches.h"

#include <time.h>

#include "protocol/messages.h"

enum { DATE_TEXT = 40 };
#define DAY_MS UINT64_C(86400000)

/* Sat Feb 23 03:07:45 UTC 2019 */
static void date(uint64_t ms, char out[DATE_TEXT])
{
	time_t s = (time_t)(ms / 1000);
	struct tm tm;

	gmtime_r(&s, &tm);
	strftime(out, DATE_TEXT, "%a %b %d %H:%M:%S UTC %Y", &tm);
}

enum err switches_note(const struct store *s, struct catalog_facts *facts, struct fault *f)
{
	uint64_t now = store_now_ms(s), *at = facts->switched_ms;
	char last[DATE_TEXT], next[DATE_TEXT];

	if (at[0] != 0 && now < at[0] + DAY_MS && capacity_enforced(s->capacity)) {
		date(at[SWITCHES_KEPT - 1], last);
		date(at[0] + DAY_MS, next);
		return fault_set(f, MSG_SWITCHES, (unsigned)SWITCHES_KEPT, last, next);
	}
	memmove(at, at + 1, (SWITCHES_KEPT - 1) * sizeof *at);
	at[SWITCHES_KEPT - 1] = now;
	return ERR_OK;
}
