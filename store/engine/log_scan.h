/* log_scan - read a whole segment's bytes: the records of its good part, and what lies behind. Pure. */
#ifndef DYNAX_STORE_ENGINE_LOG_SCAN_H
#define DYNAX_STORE_ENGINE_LOG_SCAN_H

#include "protocol/err.h"
#include "store/engine/log_format.h"

struct log_scan {
	uint64_t last_lsn;       /* in: before the segment; out: the last one of the good part */
	size_t end;              /* where the good part ends */
	bool torn;               /* something was written behind it */
	uint64_t highest_lsn;    /* in any batch, behind the good part too */
	uint64_t durable_lsn;    /* what the batches behind the good part say was on disk: beyond last_lsn means damage */
	enum err (*record)(void *arg, const struct log_record *r, struct fault *f);
	void *arg;
};

/* ERR_OK, or what record() returned; ERR_CORRUPT without a text for records that make no sense. */
enum err log_scan(struct slice segment, uint64_t salt, struct log_scan *s, struct fault *f)
	__attribute__((warn_unused_result));
/* Only look for batches from s->end on. */
void log_scan_rest(struct slice segment, uint64_t salt, struct log_scan *s);

#endif
