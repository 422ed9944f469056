/* units_check - may a request ask for this throughput: provisioned, OnDemandThroughput, WarmThroughput? For CreateTable and
 * UpdateTable.
 *
 * index: its name; absent: it is the table's. asked: absent or empty asks for nothing.
 * Source: the API reference, OnDemandThroughput and WarmThroughput; texts as observed of the service.
 * Threads: pure. */
#ifndef DYNAX_STORE_UNITS_CHECK_H
#define DYNAX_STORE_UNITS_CHECK_H

#include "store/units.h"

/* In an update: no maximum any more. */
enum { MAXIMUM_CLEARED = -1 };

/* No more than can be provisioned. */
enum err units_check_bounds(struct slice provisioned, struct fault *f) __attribute__((warn_unused_result));
/* A maximum is for on-demand tables, and at least 1; an update may clear it. */
enum err maximum_check(struct slice asked, struct slice index, bool on_demand, bool update, struct fault *f)
	__attribute__((warn_unused_result));
/* Warm throughput is never lowered; that of something new is at least what its mode starts with. */
enum err warm_check_new(struct slice asked, struct slice index, struct slice provisioned, bool on_demand, struct fault *f)
	__attribute__((warn_unused_result));
enum err warm_check_change(struct slice asked, struct slice index, struct units now, struct fault *f)
	__attribute__((warn_unused_result));

#endif
