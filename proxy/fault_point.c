/* fault_point - see fault_point.h. */
#include "proxy/fault_point.h"

#ifdef DYNAX_FAULTS
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The text after `name` in DYNAX_FAULT; NULL if it is not there. Nobody changes the environment, so reading is safe. */
static const char *fault_setting(const char *name)
{
	const char *all = getenv("DYNAX_FAULT"), *at = all != NULL ? strstr(all, name) : NULL;

	return at != NULL ? at + strlen(name) : NULL;
}

static unsigned fault_number(const char *name)
{
	const char *s = fault_setting(name);

	return s != NULL && *s == '=' ? (unsigned)strtoul(s + 1, NULL, 10) : 0;
}

/* Any sequence of different numbers will do. */
static uint32_t scatter(void)
{
	static _Atomic uint32_t n;

	return atomic_fetch_add_explicit(&n, 1, memory_order_relaxed) * 0x9E3779B1u >> 8;
}

bool fault_no_epoch_check(void)
{
	return fault_setting("no-epoch-check") != NULL;
}

bool fault_no_query_epoch(void)
{
	return fault_setting("no-query-epoch") != NULL;
}

void fault_fill_delay(void)
{
	unsigned us = fault_number("fill-delay");

	if (us != 0 && scatter() % 8 == 0)
		usleep(scatter() % (us + 1));
}

void fault_read_delay(void)
{
	unsigned us = fault_number("read-delay");

	if (us != 0)
		usleep(us);
}

bool fault_read_error(void)
{
	static atomic_flag done = ATOMIC_FLAG_INIT;

	return fault_setting("read-error") != NULL && !atomic_flag_test_and_set(&done);
}

unsigned fault_ring_short(unsigned writes)
{
	static atomic_flag done = ATOMIC_FLAG_INIT;

	return writes > 1 && fault_setting("ring-short") != NULL && !atomic_flag_test_and_set(&done) ? writes / 2 : writes;
}
#endif
