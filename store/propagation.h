/* propagation - carries out what global indexes have not been told yet (backlog.h).
 *
 *    thread:  a page of rows that are old enough --> writer: those that the index's throughput pays for: entries, counters,
 *             and the rows are gone, in one transaction --> the next index ... until nothing more can be done
 *
 * A change of a global index is made by the transaction that changes the item, with no delay at all, as long as nothing stands
 * against it. It becomes a row of the backlog if
 *
 *    - rows wait that it has to follow, for order (backlog.h, L4);
 *    - a delay is set (store_set_index_delay), for programs to be tested with indexes that are late; or
 *    - the index's write capacity is used up. DynamoDB too lets the index fall behind then, but not for long: it throttles the
 *      table. Here writes that would change an index are refused once what waits costs more than INDEX_BEHIND_SECONDS
 *      (index_admit.h) of its write capacity, or of a partition's, beyond what is saved, and pass again as the backlog
 *      shrinks; the service does not publish its number.
 *
 * R1. Rows of different indexes never wait for one another.
 * R2. A row that waits for its time is carried out when that has come; one that waits for throughput is tried again several
 *     times a second, and whenever the test clock is moved.
 * R3. Rows wait in line for their time; and one for which the index has no throughput left holds up all that follow. One for which
 *     a partition has none (heat.h) holds up only those in that partition, and those of its item; and while it is only such rows
 *     that wait, whatever they do not hold up does not become a row:
 *
 *         hot: item 1 | cold: item 2 | hot: item 3 | cold: item 3 | cold: item 4         2 and 4 are carried out now; the others,
 *                                                                                        in order, as hot's throughput comes
 *
 *     So each item is in the index as it was at some time, and never goes back; but one may be later than another. Likewise
 *     only writes that would change a partition are refused because it is behind.
 *
 * Sources: "Using Global Secondary Indexes in DynamoDB" (data synchronization, provisioned throughput considerations) and
 * "Understanding Global Secondary Index (GSI) write throttling and back pressure in DynamoDB" in the developer guide.
 * Not here: local indexes, which are always changed with their table. Threads: its own; the writer does the writing. */
#ifndef DYNAX_STORE_PROPAGATION_H
#define DYNAX_STORE_PROPAGATION_H

#include "store/store_int.h"

struct propagation;

enum err propagation_start(struct store *s, struct propagation **p, struct fault *f) __attribute__((warn_unused_result));
/* Stops between two pages; the writer must still be running, and may go on to call propagation_wake. */
void propagation_stop(struct propagation *p);
/* The same without waiting for it; propagation_stop must follow. */
void propagation_wind_down(struct propagation *p);
void propagation_free(struct propagation **p);
/* There are new rows; or there is capacity, or another delay, so that rows that were held up may go. From any thread. */
void propagation_rows(struct propagation *p);
void propagation_wake(struct propagation *p);
/* Wait until all is carried out that could be when this was called, or it stops. Not from the writer. */
void propagation_settle(struct propagation *p);

#endif
