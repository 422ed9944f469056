/* describe - a table as the service tells of it: TableDescription.
 *
 * Threads: pure functions but for store_describe (store.h), which reads the catalog and a view. */
#ifndef DYNAX_STORE_DESCRIBE_H
#define DYNAX_STORE_DESCRIBE_H

#include "store/store_int.h"

enum { DESCRIBED_MAX = 1 + TABLE_GSI_MAX + TABLE_LSI_MAX };

/* One operation of store_describe; its request has been checked. */
typedef enum err describe_fn(struct store_reader *r, const struct request *req, struct buf *out, struct fault *f);

/* Append a TableDescription; brief: without schema and indexes, as DeleteTable answers. c[0] counts the table, c[1 ...]
 * its indexes in the order of table->index. */
void table_description_put(struct buf *out, const struct store *s, const struct catalog_table *t, const char *status,
	bool brief, const struct counters *c);
/* Append the ARN of a table (kind NULL), or of its index or stream: then kind is "index" or "stream", and rest its name or label. */
void table_arn_print(struct buf *text, const struct store *s, struct slice table, const char *kind, struct slice rest);
/* The same as a member of a record. */
void table_arn_put(struct buf *b, unsigned *n, unsigned id, const struct store *s, struct slice table, const char *kind,
	struct slice rest);
/* The ARN of a table, in the arena; NULL if memory is out. */
const char *table_arn(const struct store *s, struct slice name, struct arena *a);

#endif
