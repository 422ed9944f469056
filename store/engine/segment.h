/* segment - one file of the log: made beforehand, filled once, used again under the next number or removed.
 *
 * Files are log/<16 hex digits>.log, by number. Making one fills it with zeros, so that the syncs of its batches
 * change no metadata; a file whose header has another number than its name is made and not yet begun (a recycled one
 * still has the header of its earlier life). An ephemeral engine's segments have no names and are not filled.
 *
 * Threads: what is marked "writer" belongs to the thread that appends, the rest to wal.lock or is atomic. */
#ifndef DYNAX_STORE_ENGINE_SEGMENT_H
#define DYNAX_STORE_ENGINE_SEGMENT_H

#include "protocol/err.h"
#include "store/engine/log_format.h"
#include "store/engine/turn.h"

#include <stdatomic.h>

enum { SEGMENT_NAME = 24 };

struct segment {
	uint64_t seq;
	uint64_t prev_lsn;          /* the last LSN before this segment */
	uint64_t salt;
	int fd;
	size_t capacity;
	size_t tail;                /* writer: where the next batch goes */
	bool spoiled;               /* writer: a batch that failed may stand there */
	_Atomic size_t end;         /* what log readers may read: published batches */
	_Atomic uint64_t last_lsn;  /* of what was appended */
	_Atomic uint64_t last_ms;   /* when */
	atomic_bool dirty;          /* written since the last sync */
	unsigned refs;              /* log readers standing in it; under wal.lock */
	struct segment *next;       /* under wal.lock */
};

void segment_name(char out[SEGMENT_NAME], uint64_t seq);
/* The number in a file's name, or false. */
bool segment_number(const char *name, uint64_t *seq);

/* Make the file of segment `seq`, syncing it in turn with the log. dirfd < 0: one without a name, in the directory for temporary
 * files. */
enum err segment_create(int dirfd, uint64_t seq, size_t bytes, struct turn *turn, struct segment **s, struct fault *f)
	__attribute__((warn_unused_result));
/* An existing file; its header is not looked at. */
enum err segment_open(int dirfd, uint64_t seq, struct segment **s, struct fault *f) __attribute__((warn_unused_result));
void segment_close(struct segment **s);

/* Give the file another number; what it held is void from then on. False if that cannot be done: then s->seq still says what its
 * name is. */
bool segment_rename(int dirfd, struct segment *s, uint64_t seq) __attribute__((warn_unused_result));
void segment_unlink(int dirfd, const struct segment *s);

#endif
