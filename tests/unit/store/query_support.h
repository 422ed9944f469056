/* query_support - a store in memory that is spoken to in DynamoDB's JSON, so that a test reads like a session. */
#ifndef DYNAX_TESTS_QUERY_SUPPORT_H
#define DYNAX_TESTS_QUERY_SUPPORT_H

#include "protocol/op.h"

void session_open(void);
void session_close(void);
/* One request. Its answer as JSON, or "Type: text" of an error; good until the next call. */
const char *ask(enum op op, const char *body);
const char *askf(enum op op, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The same, but an error fails the test. */
const char *must(enum op op, const char *body);
const char *mustf(enum op op, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
