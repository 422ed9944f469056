/* fixture - a store under test, spoken to in DynamoDB's JSON.
 *
 *    struct fixture *fx = fixture_new(NULL);                  an ephemeral store; or in a directory
 *    ok(fx, "PutItem", "{...}", "{...}");                     the answer is exactly this
 *    fails(fx, "PutItem", "{...}", ERR_VALIDATION, "text");   the error is exactly this
 *
 * Quotes are tedious in C: in all JSON here ' stands for ". */
#ifndef DYNAX_TESTS_STORE_FIXTURE_H
#define DYNAX_TESTS_STORE_FIXTURE_H

#include "store/store.h"

struct fixture;

struct fixture *fixture_new(const char *dir);
struct fixture *fixture_with(const struct store_opts *o);
void fixture_free(struct fixture *fx);
/* Close the store and open it again in the same directory. */
void fixture_reopen(struct fixture *fx);

struct store *fixture_store(struct fixture *fx);
struct store_reader *fixture_reader(struct fixture *fx);

struct outcome {
	enum err code;
	const char *text;      /* of the error */
	const char *json;      /* the answer, or the error's body; good until the next run */
};
/* Any operation but reads of single items and queries goes the way that the proxy goes. */
struct outcome run(struct fixture *fx, const char *op, const char *json);

void ok_at(struct fixture *fx, const char *op, const char *json, const char *answer, const char *file, int line);
void fails_at(struct fixture *fx, const char *op, const char *json, enum err code, const char *text, const char *file, int line);
/* Answer NULL: any. Text NULL: any. */
#define ok(fx, op, json, answer) ok_at(fx, op, json, answer, __FILE__, __LINE__)
#define fails(fx, op, json, code, text) fails_at(fx, op, json, code, text, __FILE__, __LINE__)

#endif
