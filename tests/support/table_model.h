/* table_model - what a table should hold: the plainest thing that could be right, to compare a store with.
 *
 * A grid of PARTITIONS x ROWS items, with the key pk = "p<i>", sk = <j>, and few attributes. Items are told in the JSON
 * that DynamoDB tells them in, names sorted.
 * Threads: one. */
#ifndef DYNAX_TESTS_TABLE_MODEL_H
#define DYNAX_TESTS_TABLE_MODEL_H

#include <stdbool.h>
#include <stddef.h>

enum { MODEL_PARTITIONS = 7, MODEL_ROWS = 13, MODEL_GROUPS = 4, MODEL_ITEM_TEXT = 4096 };

struct model_item {
	bool exists;
	int v;             /* N */
	int group;         /* S "g<n>", or -1: absent */
	int pad;           /* S of that many x; 0 = absent */
};

struct table_model {
	struct model_item item[MODEL_PARTITIONS][MODEL_ROWS];
};

/* The item's JSON, in out. */
void model_item_json(const struct table_model *m, int p, int r, char out[MODEL_ITEM_TEXT]);
/* The same of an item that is not (yet) in the model. */
void model_json(int p, int r, const struct model_item *x, char out[MODEL_ITEM_TEXT]);
size_t model_count(const struct table_model *m);

#endif
