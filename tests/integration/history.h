/* history - what clients did to registers and saw in them, and whether it is linearizable.
 *
 *    h.add(key, value, write?, when it was asked, when it was answered) ... history_check
 *
 * Each value is written to a key at most once; a key holds 0, "absent", before its first write. For such histories
 * linearizability can be decided fast (Gibbons and Korach, "Testing Shared Memories", 1997): the write of a value and
 * all reads of it form a zone in time: forward, if some of them ended before others began, from the first end to the
 * last beginning, during which the register must have held the value; else backward, an interval within which one moment is
 * enough. It is linearizable exactly if no two forward zones overlap, no forward zone holds a backward one, and no read
 * ended before its write began.
 *
 * Threads: a history belongs to one; merge them before the check. */
#ifndef DYNAX_TESTS_HISTORY_H
#define DYNAX_TESTS_HISTORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct history_op {
	uint64_t key, value;
	int64_t asked, answered;      /* ns; answered INT64_MAX: a write whose outcome is unknown */
	bool write;
};

struct history {
	struct history_op *op;
	size_t n, cap;
};

void history_add(struct history *h, struct history_op op);
/* Append b to a. */
void history_merge(struct history *a, const struct history *b);
void history_release(struct history *h);

/* Number of keys whose history is not linearizable; the first few are told on stderr. Sorts h. */
size_t history_check(struct history *h);

int64_t history_now(void);

#endif
