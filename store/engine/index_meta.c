/* index_meta - see index_meta.h. */
#include "store/engine/index_meta.h"

#include "protocol/messages.h"

#include <endian.h>
#include <sys/random.h>

enum { FORMAT = 1 };

#define KEY_FORMAT SLICE_LIT("format")
#define KEY_UUID SLICE_LIT("uuid")
#define KEY_CHECKPOINT SLICE_LIT("checkpoint")
#define KEY_DROP SLICE_LIT("drop")

static enum err create(struct lmdb_txn *t, uint8_t uuid[LOG_UUID], struct fault *f)
{
	uint32_t format = htole32(FORMAT);
	enum err rc = lmdb_put(t, LMDB_META, KEY_FORMAT, slice_of(&format, sizeof format), f);

	if (getrandom(uuid, LOG_UUID, 0) != LOG_UUID)
		return fault_set(f, MSG_ENGINE_IO, "index", "no random bytes");
	return rc == ERR_OK ? lmdb_put(t, LMDB_META, KEY_UUID, slice_of(uuid, LOG_UUID), f) : rc;
}

static enum err read_or_create(struct lmdb_txn *t, uint8_t uuid[LOG_UUID], uint64_t *lsn, struct fault *f)
{
	struct slice format, id, checkpoint;
	enum err rc = lmdb_get(t, LMDB_META, KEY_FORMAT, &format, f);

	*lsn = 0;
	if (rc == ERR_OK && !slice_present(format))
		return create(t, uuid, f);
	if (rc == ERR_OK)
		rc = lmdb_get(t, LMDB_META, KEY_UUID, &id, f);
	if (rc == ERR_OK)
		rc = lmdb_get(t, LMDB_META, KEY_CHECKPOINT, &checkpoint, f);
	if (rc != ERR_OK)
		return rc;
	uint32_t have = 0;

	if (format.n == sizeof have)
		memcpy(&have, format.p, sizeof have);
	if (le32toh(have) > FORMAT)
		return fault_set(f, MSG_ENGINE_NEWER, le32toh(have), (unsigned)FORMAT);
	if (le32toh(have) != FORMAT || id.n != LOG_UUID)
		return fault_set(f, MSG_ENGINE_INDEX_CORRUPT, "unknown format");
	memcpy(uuid, id.p, LOG_UUID);
	if (checkpoint.n == sizeof *lsn)
		memcpy(lsn, checkpoint.p, sizeof *lsn);
	*lsn = le64toh(*lsn);
	return ERR_OK;
}

enum err index_meta_open(struct lmdb_env *e, uint8_t uuid[LOG_UUID], uint64_t *checkpoint_lsn, struct fault *f)
{
	struct lmdb_txn *t;
	enum err rc = lmdb_write_begin(e, &t, f);

	if (rc != ERR_OK)
		return rc;
	rc = read_or_create(t, uuid, checkpoint_lsn, f);
	rc = lmdb_write_end(&t, rc, f);
	/* the log is salted with the uuid: it must not be lost while a segment has it */
	return rc == ERR_OK ? lmdb_sync(e, f) : rc;
}

enum err index_meta_set_checkpoint(struct lmdb_txn *t, uint64_t lsn, struct fault *f)
{
	uint64_t bytes = htole64(lsn);

	return lmdb_put(t, LMDB_META, KEY_CHECKPOINT, slice_of(&bytes, sizeof bytes), f);
}

enum err index_meta_add_drop(struct lmdb_txn *t, uint64_t lsn, uint32_t number, struct slice prefix, struct fault *f)
{
	struct {
		uint8_t drop[4];
		uint8_t lsn[8];
		uint8_t number[4];
	} key;
	uint64_t be_lsn = htobe64(lsn);
	uint32_t be_number = htobe32(number);

	memcpy(key.drop, KEY_DROP.p, sizeof key.drop);
	memcpy(key.lsn, &be_lsn, sizeof key.lsn);
	memcpy(key.number, &be_number, sizeof key.number);
	return lmdb_put(t, LMDB_META, slice_of(&key, sizeof key), prefix, f);
}

enum err index_meta_first_drop(struct lmdb_txn *t, struct buf *key, struct buf *prefix, struct fault *f)
{
	struct MDB_cursor *c;
	struct slice found = KEY_DROP, value;
	enum err rc = lmdb_cursor_open(t, LMDB_META, &c, f);

	buf_clear(key);
	buf_clear(prefix);
	if (rc != ERR_OK)
		return rc;
	rc = lmdb_cursor_move(c, LMDB_SEEK, &found, &value, f);
	lmdb_cursor_close(&c);
	if (rc != ERR_OK || !slice_starts_with(found, KEY_DROP))
		return rc;
	buf_put_slice(key, found);
	buf_put_slice(prefix, value);
	return key->failed || prefix->failed ? fault_set(f, MSG_NO_MEMORY) : ERR_OK;
}
