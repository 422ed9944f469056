/* engine - ordered keys and values, durable through a log, indexed by LMDB, read through consistent views.
 *
 *    writer thread --put/del--> transaction --commit--> batch --flush--> log segments (fdatasync)
 *                                                         \--publish--> overlay (sorted lists), visible to views
 *    checkpointer:  frozen overlay --sorted, large transactions--> LMDB (records the LSN it reaches)
 *    view:          (LSN, overlay, LMDB snapshot): one get, one cursor
 *
 * G1. What engine_flush returned ERR_OK for survives a crash; what it did not is wholly there or wholly not,
 *     transaction by transaction, and only a tail of the log can be missing.
 * G2. A view shows exactly the transactions up to its LSN, however long it lives.
 * G3. Log sequence numbers (LSN) grow by one for each committed transaction and are never used twice.
 *     (Numbers are passed over where a batch failed, and after a start that follows an unsynced log.)
 * G4. The overlay is bounded by opts.overlay_bytes: near the bound the writer waits for the checkpointer. What only old
 *     views still need comes on top, and a quarter for deletions while the map or the disk is full.
 * G5. Damage in the log before its tail is reported, never skipped: by engine_open where the log is replayed, by log
 *     readers where it is older than LMDB's checkpoint.
 * G6. A full disk and a full map are errors of the transactions that meet them: ERR_DISK_FULL, ERR_MAP_FULL. Reads go on,
 *     with a full map deletions too, and writes as soon as there is room.
 *
 * Keys have 1..65535 bytes and any content, values 0..16 MiB. The engine knows nothing of tables.
 *
 * Threads: one writer for engine_begin .. engine_publish; any thread for views and log readers (each belongs to
 * one thread at a time); a checkpointer thread of its own. */
#ifndef DYNAX_STORE_ENGINE_H
#define DYNAX_STORE_ENGINE_H

#include "protocol/err.h"
#include "protocol/slice.h"

struct engine;
struct view;
struct cursor;
struct log_reader;

enum durability {
	DURABILITY_SYNC,      /* engine_flush returns when the batch is on disk */
	DURABILITY_ASYNC,     /* written to the file; synced within 100 ms by another thread: that much can be lost */
	DURABILITY_NONE       /* written, never synced but by a checkpoint: the operating system decides */
};

struct engine_opts {          /* zero = default */
	const char *dir;          /* data directory, created if missing; NULL = ephemeral, gone with the process */
	enum durability durability;
	size_t overlay_bytes;     /* 1 GiB; frozen in parts of an eighth */
	size_t segment_bytes;     /* 64 MiB */
	size_t map_max_bytes;     /* LMDB's file grows by itself up to this; default 1 TiB */
	uint64_t log_keep_seconds;/* keep segments at least this long for log readers; 0 = only while retained */
	unsigned consumers;       /* slots 0 .. consumers-1 retain everything until their first engine_retain: what a consumer
				   * has not seen must not go while it starts */
};

/* Open or create; replays the log. ERR_BUSY if another process has it, ERR_CORRUPT with file and offset. */
enum err engine_open(const struct engine_opts *o, struct engine **e, struct fault *f) __attribute__((warn_unused_result));
/* Checkpoint what is left and close; nulls the caller's pointer. No view may be open. */
void engine_close(struct engine **e);

/* ---- writing: the writer thread only ---- */

/* Start a transaction in the current batch. */
void engine_begin(struct engine *e);
void engine_put(struct engine *e, struct slice key, struct slice value);
/* The value is head and tail, one behind the other. If the tail is what the transaction has put last, the log does not get it
 * once more. */
void engine_put_tail(struct engine *e, struct slice key, struct slice head, struct slice tail);
void engine_del(struct engine *e, struct slice key);
/* Opaque bytes for those who follow the log (old images, cause); not indexed. At most one a transaction. */
void engine_note(struct engine *e, struct slice note);
/* What the transaction puts is only what its deletions bring with them (counters, records of what was deleted): a full map or
 * disk does not refuse it, for it makes room on the whole. */
void engine_makes_room(struct engine *e);
/* End it: applied to the overlay, seen by engine_read at once, by views after engine_publish. Keys may have been put
 * twice, the last counts. A transaction without changes and note gets no LSN (*lsn = 0). Waits at G4's bound. On an
 * error the transaction is forgotten; the batch goes on without it. */
enum err engine_commit(struct engine *e, uint64_t *lsn, struct fault *f) __attribute__((warn_unused_result));
/* Forget the transaction begun; the batch is as before. */
void engine_abort(struct engine *e);
/* The newest committed value, the open batch included; value->p == NULL if there is none. Borrowed until the next
 * engine_publish. */
enum err engine_read(struct engine *e, struct slice key, struct slice *value, struct fault *f) __attribute__((warn_unused_result));
/* What the open batch takes in the log. */
size_t engine_batch_bytes(const struct engine *e);
/* Log the batch durably (see durability). On error the whole batch is undone, and the next one may succeed. */
enum err engine_flush(struct engine *e, struct fault *f) __attribute__((warn_unused_result));
/* Make the flushed batch visible to views; returns its last LSN. Ends an empty batch too: call it whatever came of the batch. */
uint64_t engine_publish(struct engine *e);
/* Forget every key that begins with prefix: logged with the open transaction; space is freed in the background.
 * The caller sees to it that no such key is asked for or written again. */
void engine_drop_prefix(struct engine *e, struct slice prefix);

/* Another opts.map_max_bytes, for writes from now on: returns what it is, at most as much as address space was reserved, which
 * is 1 TiB or what the engine was opened with. A file that is larger already does not shrink. From any thread. */
uint64_t engine_set_map_max(struct engine *e, uint64_t bytes);

/* ---- reading: any thread ---- */

enum err view_open(struct engine *e, struct view **v, struct fault *f) __attribute__((warn_unused_result));
void view_close(struct view **v);
uint64_t view_lsn(const struct view *v);
/* value->p == NULL if there is none. Borrowed until view_close. */
enum err view_get(struct view *v, struct slice key, struct slice *value, struct fault *f) __attribute__((warn_unused_result));

/* Keys in [from, to), ascending, or descending from the last one below `to`; an absent bound (p == NULL) is open. */
enum err cursor_open(struct view *v, struct slice from, struct slice to, bool descending, struct cursor **c, struct fault *f)
	__attribute__((warn_unused_result));
/* The next pair; key->p == NULL at the end. Key and value are borrowed until the next call on this cursor. */
enum err cursor_next(struct cursor *c, struct slice *key, struct slice *value, struct fault *f) __attribute__((warn_unused_result));
void cursor_close(struct cursor **c);

uint64_t engine_published(const struct engine *e);

/* ---- following the log: any thread ---- */

struct log_change { struct slice key, value; };   /* value.p == NULL: deleted */
struct log_entry {
	uint64_t lsn;
	uint64_t time_ms;             /* Unix time of its commit */
	size_t bytes;                 /* that it takes in the log */
	struct slice note;            /* absent if none */
	const struct log_change *change;
	size_t changes;
};

/* Entries after `lsn`, in order. ERR_TRIMMED_DATA if some are gone. */
enum err log_reader_open(struct engine *e, uint64_t after_lsn, struct log_reader **r, struct fault *f) __attribute__((warn_unused_result));
/* The next published entry; *got = false if there is none yet. Borrowed until the next call. */
enum err log_reader_next(struct log_reader *r, struct log_entry *entry, bool *got, struct fault *f) __attribute__((warn_unused_result));
void log_reader_close(struct log_reader **r);
/* Segments with entries after the smallest retained LSN are kept. slot: 0..15, a consumer's own. UINT64_MAX lets go. */
void engine_retain(struct engine *e, unsigned slot, uint64_t lsn);
/* Oldest LSN that a log reader can still begin after. */
uint64_t engine_oldest(const struct engine *e);
/* Call `fn(arg)`, from the writer thread, after each publish: followers wake up. One listener; NULL removes it. */
void engine_on_publish(struct engine *e, void (*fn)(void *arg, uint64_t lsn), void *arg);

/* ---- looking inside ---- */

struct engine_stats {
	uint64_t lsn_published, lsn_checkpointed;
	uint64_t overlay_bytes, log_bytes, log_segments;
	uint64_t map_bytes, map_used_bytes, map_free_bytes;   /* LMDB: the limit, pages in use, pages reusable */
	uint64_t batches, transactions, flush_ns_total, checkpoint_count, checkpoint_ns_total, writer_stall_ns_total;
	unsigned readers, readers_max;
	bool dropping;                                        /* keys of dropped prefixes are being deleted from LMDB */
};
void engine_stats(struct engine *e, struct engine_stats *out);

#endif
