/* streams_support - tests of streams: tables that have one, and what its JSON says. */
#ifndef DYNAX_TESTS_STREAMS_SUPPORT_H
#define DYNAX_TESTS_STREAMS_SUPPORT_H

#include "tests/unit/store/fixture.h"

enum { TEXT_MAX = 2100, HOUR_MS = 60 * 60 * 1000 };

/* The string that follows `"name":"` for the nth time (from 0); false if there is none. */
bool text_of(const char *json, const char *name, unsigned nth, char out[TEXT_MAX]);
unsigned count_of(const char *json, const char *what);
/* Good until the next one. */
const char *fmt(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* A table with keys p (a string) and c (a number), and a stream if a view type is given. */
void create(struct fixture *fx, const char *table, const char *view);
void put(struct fixture *fx, const char *table, int c, const char *more);
/* Cut the table's partition at the hash, once the cuts before it are counted. */
void cut_at(struct fixture *fx, const char *table, uint64_t at);

/* A stream under test: its names are read from DescribeStream. */
struct followed {
	struct fixture *fx;
	char arn[TEXT_MAX], shard[TEXT_MAX];     /* the first shard */
};
void follow(struct followed *s, struct fixture *fx, const char *table);
void iterator_of(struct followed *s, const char *type, const char *number, char out[TEXT_MAX]);
/* GetRecords; the iterator moves on, or becomes empty at the shard's end. */
struct outcome read_on(struct followed *s, char it[TEXT_MAX], unsigned limit);
/* The shard's, from the oldest on. */
struct outcome read_all(struct followed *s);

#endif
