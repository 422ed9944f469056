/* writer - the one thread that changes the store: takes what is queued, applies it, flushes once, answers all.
 *
 *    store_submit --> queue --> [ apply, apply, ... ] --> engine_flush --> observer begin --> publish --> observer end
 *                       ^ the next batch gathers while this one is being flushed                 --> done() of each
 *
 * Threads: writer_submit from any; everything else of a write happens on the writer's own. */
#ifndef DYNAX_STORE_WRITER_H
#define DYNAX_STORE_WRITER_H

#include "store/store_int.h"

enum err writer_start(struct store *s, struct writer **w, struct fault *f) __attribute__((warn_unused_result));
/* Carry out what is queued, then stop. No more submissions may come. */
void writer_stop(struct writer **w);
void writer_submit(struct writer *w, struct store_write *write);
void writer_stats(struct writer *w, struct store_stats *out);

#endif
