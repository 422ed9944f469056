/* capacity - what reads and writes cost, in DynamoDB's units, and the ConsumedCapacity record that reports it.
 *
 * A read costs one unit for each 4 KiB begun of the sum of item sizes, half of that if it may be eventually
 * consistent, twice that in a transaction, and one step at least; a write one unit for each 1 KiB begun, twice in
 * a transaction, and one at least. Source: "DynamoDB read and write operations" in the developer guide.
 *
 * Units are kept as integers of half a unit, so that sums are exact. Threads: pure functions. */
#ifndef DYNAX_PROTOCOL_CAPACITY_H
#define DYNAX_PROTOCOL_CAPACITY_H

#include "protocol/shape.h"

enum read_consistency { READ_EVENTUAL, READ_STRONG, READ_TRANSACTIONAL };
enum { CAPACITY_HALVES = 2 };

uint64_t capacity_read_halves(size_t bytes, enum read_consistency c);
uint64_t capacity_write_halves(size_t bytes, bool transactional);

/* What a request consumed at one table. */
struct consumed_index { struct slice name; bool global; uint64_t read, write; };   /* halves */
struct consumed {
	struct slice table;               /* its name */
	uint64_t read, write;             /* of the table itself, halves */
	struct consumed_index *index;     /* those that took part */
	unsigned indexes;
};
enum report { REPORT_NONE, REPORT_TOTAL, REPORT_INDEXES };
/* From the bytes of ReturnConsumedCapacity; absent = NONE. */
enum report report_of(struct slice name);
/* Append a ConsumedCapacity record. split: with ReadCapacityUnits and WriteCapacityUnits (transactions report so). */
void consumed_put(struct buf *b, const struct consumed *c, enum report how, bool split);

#endif
