/* partition_list - how a table is partitioned, as JSON for `dynax partitions` and its like.
 *
 *    {"Partitions":[{"IndexName", only of an index, "FirstHash", "LastHash", "ItemCount" and "SizeBytes", if known,
 *      "ReadUnitsPerSecond", "WriteUnitsPerSecond", "ThrottledReads", "ThrottledWrites",
 *      "HottestKeys":[{"Key":{name: value} or "Hash", "ReadShare", "WriteShare"}], "Counted"}]}
 *
 * Threads: any. */
#ifndef DYNAX_PROXY_PARTITION_LIST_H
#define DYNAX_PROXY_PARTITION_LIST_H

#include "proxy/backend.h"

/* False if there is no such table. */
bool partition_list_write(struct backend *b, struct slice table, struct buf *out);

#endif
