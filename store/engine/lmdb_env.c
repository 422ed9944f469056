/* lmdb_env - see lmdb_env.h. The one file that includes lmdb.h. */
#include "store/engine/lmdb_env.h"

#include "protocol/messages.h"
#include "store/engine/file.h"

#include <errno.h>
#include <lmdb.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

struct lmdb_env {
	MDB_env *env;
	MDB_dbi tree[LMDB_TREES];
	size_t map;                 /* reserved */
	_Atomic uint64_t limit;
};

struct lmdb_txn {
	struct lmdb_env *env;
	MDB_txn *txn;
	/* of a write transaction: keys come in order, and a cursor that stands near needs no descent from the root */
	MDB_cursor *put;
};

static const size_t MAP_MIN = 16 << 20, MAP_RESERVED = (size_t)1 << 40;

static enum err lmdb_error(int rc, struct fault *f)
{
	switch (rc) {
	case MDB_SUCCESS:
		return ERR_OK;
	case MDB_MAP_FULL:
		return fault_set(f, MSG_ENGINE_MAP_FULL);
	case MDB_READERS_FULL:
		return fault_set(f, MSG_ENGINE_READERS);
	case MDB_CORRUPTED:
	case MDB_PAGE_NOTFOUND:
	case MDB_INVALID:
	case MDB_VERSION_MISMATCH:
		return fault_set(f, MSG_ENGINE_INDEX_CORRUPT, mdb_strerror(rc));
	default:
		return rc > 0 ? file_error(rc, "index", f) : fault_set(f, MSG_ENGINE_IO, "index", mdb_strerror(rc));
	}
}

static MDB_val val(struct slice s)
{
	union {
		const uint8_t *from;
		void *to;
	} p = { .from = s.p };   /* LMDB's input parameters are not const, but it does not write to them */

	return (MDB_val){ .mv_size = s.n, .mv_data = p.to };
}

static struct slice slice(const MDB_val *v)
{
	return slice_of(v->mv_data, v->mv_size);
}

/* ---- the environment ---- */

static int open_env(struct lmdb_env *e, const char *path, const struct lmdb_opts *o, size_t map)
{
	unsigned flags = MDB_NOSUBDIR | MDB_NOTLS | MDB_NORDAHEAD | (o->dir == NULL ? MDB_NOSYNC : MDB_NOMETASYNC);
	int rc = mdb_env_create(&e->env);

	if (rc != 0)
		return rc;
	rc = mdb_env_set_mapsize(e->env, map);
	if (rc == 0)
		rc = mdb_env_set_maxreaders(e->env, o->readers_max);
	if (rc == 0)
		rc = mdb_env_set_maxdbs(e->env, LMDB_TREES);
	if (rc == 0)
		rc = mdb_env_open(e->env, path, flags, 0600);
	if (rc == 0)
		return 0;
	mdb_env_close(e->env);
	e->env = NULL;
	return rc;
}

/* Reserve what is asked for, or as much address space as there is: a process may be given little (ulimit -v, sanitizers). */
static int open_mapped(struct lmdb_env *e, const char *path, const struct lmdb_opts *o)
{
	long page = sysconf(_SC_PAGESIZE);
	size_t most = o->map_max_bytes > MAP_RESERVED ? o->map_max_bytes : MAP_RESERVED, map = most / (size_t)page * (size_t)page;
	int rc = open_env(e, path, o, map);

	while (rc == ENOMEM && map / 2 >= MAP_MIN) {
		map = map / 2 / (size_t)page * (size_t)page;
		rc = open_env(e, path, o, map);
	}
	e->map = map;
	(void)lmdb_set_limit(e, o->map_max_bytes);
	return rc;
}

/* Open in a directory of its own, then remove every name: what is open lives on, and is gone with the process. */
static int open_nameless(struct lmdb_env *e, const struct lmdb_opts *o)
{
	const char *tmp = getenv("TMPDIR");
	char dir[4096], path[4096 + 16];

	snprintf(dir, sizeof dir, "%s/dynax-XXXXXX", tmp != NULL ? tmp : "/tmp");
	if (mkdtemp(dir) == NULL)
		return errno;
	snprintf(path, sizeof path, "%s/index", dir);
	int rc = open_mapped(e, path, o);

	unlink(path);
	snprintf(path, sizeof path, "%s/index-lock", dir);
	unlink(path);
	rmdir(dir);
	return rc;
}

/* A file cut short would end the process with SIGBUS where a page is missing. As zeros, missing pages are found to be damaged.
 * (Somewhat short it may be by right: the last pages, if they were free, have never been written.) */
static int fill_up(struct lmdb_env *e)
{
	MDB_envinfo info;
	MDB_stat stat;
	struct stat st;
	int fd, rc = mdb_env_get_fd(e->env, &fd);

	if (rc == 0)
		rc = mdb_env_info(e->env, &info);
	if (rc == 0)
		rc = mdb_env_stat(e->env, &stat);
	if (rc != 0)
		return rc;
	off_t wanted = (off_t)((info.me_last_pgno + 1) * stat.ms_psize);

	if (fstat(fd, &st) != 0)
		return errno;
	return st.st_size < wanted && ftruncate(fd, wanted) != 0 ? errno : 0;
}

static int open_trees(struct lmdb_env *e)
{
	static const char *const name[LMDB_TREES] = { "keys", "layers", "meta" };
	MDB_txn *txn;
	int rc = mdb_txn_begin(e->env, NULL, 0, &txn);

	if (rc != 0)
		return rc;
	for (unsigned i = 0; i < LMDB_TREES && rc == 0; i++)
		rc = mdb_dbi_open(txn, name[i], MDB_CREATE, &e->tree[i]);
	if (rc == 0)
		return mdb_txn_commit(txn);
	mdb_txn_abort(txn);
	return rc;
}

enum err lmdb_open(const struct lmdb_opts *o, struct lmdb_env **out, struct fault *f)
{
	struct lmdb_env *e = calloc(1, sizeof *e);
	char path[4096];
	int rc;

	*out = NULL;
	if (e == NULL)
		return fault_set(f, MSG_NO_MEMORY);
	if (o->dir == NULL) {
		rc = open_nameless(e, o);
	} else {
		snprintf(path, sizeof path, "%s/index.lmdb", o->dir);
		rc = open_mapped(e, path, o);
	}
	if (rc == 0)
		rc = fill_up(e);
	if (rc == 0)
		rc = open_trees(e);
	if (rc == 0)
		*out = e;
	else
		lmdb_close(&e);
	return lmdb_error(rc, f);
}

void lmdb_close(struct lmdb_env **e)
{
	if (*e == NULL)
		return;
	if ((*e)->env != NULL)
		mdb_env_close((*e)->env);
	free(*e);
	*e = NULL;
}

uint64_t lmdb_limit(const struct lmdb_env *e)
{
	return atomic_load_explicit(&e->limit, memory_order_relaxed);
}

uint64_t lmdb_set_limit(struct lmdb_env *e, uint64_t bytes)
{
	uint64_t limit = bytes < e->map ? bytes : e->map;

	atomic_store_explicit(&e->limit, limit, memory_order_relaxed);
	return limit;
}

enum err lmdb_sync(struct lmdb_env *e, struct fault *f)
{
	return lmdb_error(mdb_env_sync(e->env, 1), f);
}

void lmdb_check_readers(struct lmdb_env *e)
{
	int dead;

	(void)mdb_reader_check(e->env, &dead);
}

/* A line of LMDB's list of readers: process, thread, transaction id. Its head and readers without a snapshot have no number. */
static int take_oldest(const char *line, void *arg)
{
	size_t *oldest = arg, id;

	if (sscanf(line, "%*d %*x %zu", &id) == 1 && id < *oldest)
		*oldest = id;
	return 0;
}

/* Pages to be used again are listed in tree 0: id of the transaction that freed them -> [count][page numbers...]. A reader of
 * an older snapshot pins them. */
static int count_free(struct lmdb_env *e, MDB_txn *txn, uint64_t *pages, uint64_t *pinned)
{
	size_t oldest = SIZE_MAX;
	MDB_cursor *c;
	MDB_val key, value;
	int rc = mdb_cursor_open(txn, 0, &c);

	*pages = *pinned = 0;
	if (rc != 0)
		return rc;
	(void)mdb_reader_list(e->env, take_oldest, &oldest);
	while ((rc = mdb_cursor_get(c, &key, &value, MDB_NEXT)) == 0) {
		size_t n, id;

		memcpy(&n, value.mv_data, sizeof n);
		memcpy(&id, key.mv_data, sizeof id);
		*pages += n;
		*pinned += id > oldest ? n : 0;
	}
	mdb_cursor_close(c);
	return rc == MDB_NOTFOUND ? 0 : rc;
}

enum err lmdb_usage(struct lmdb_env *e, struct lmdb_usage *u, struct fault *f)
{
	MDB_envinfo info;
	MDB_stat stat;
	MDB_txn *txn;
	uint64_t pages, pinned;
	int rc = mdb_txn_begin(e->env, NULL, MDB_RDONLY, &txn);

	if (rc != 0)
		return lmdb_error(rc, f);
	rc = count_free(e, txn, &pages, &pinned);
	mdb_txn_abort(txn);
	mdb_env_info(e->env, &info);
	mdb_env_stat(e->env, &stat);
	*u = (struct lmdb_usage){ .map = lmdb_limit(e), .free = pages * stat.ms_psize, .pinned = pinned * stat.ms_psize,
		.used = (info.me_last_pgno + 1 - (pages <= info.me_last_pgno ? pages : 0)) * stat.ms_psize,
		.readers = info.me_numreaders, .readers_max = info.me_maxreaders };
	return lmdb_error(rc, f);
}

/* ---- transactions ---- */

static enum err begin(struct lmdb_env *e, unsigned flags, struct lmdb_txn **out, struct fault *f)
{
	struct lmdb_txn *t = calloc(1, sizeof *t);

	*out = NULL;
	if (t == NULL)
		return fault_set(f, MSG_NO_MEMORY);
	t->env = e;
	int rc = mdb_txn_begin(e->env, NULL, flags, &t->txn);

	if (rc == 0)
		*out = t;
	else
		free(t);
	return lmdb_error(rc, f);
}

enum err lmdb_read_open(struct lmdb_env *e, struct lmdb_txn **t, struct fault *f)
{
	return begin(e, MDB_RDONLY, t, f);
}

enum err lmdb_read_renew(struct lmdb_txn *t, struct fault *f)
{
	return lmdb_error(mdb_txn_renew(t->txn), f);
}

void lmdb_read_reset(struct lmdb_txn *t)
{
	mdb_txn_reset(t->txn);
}

void lmdb_read_close(struct lmdb_txn **t)
{
	if (*t == NULL)
		return;
	mdb_txn_abort((*t)->txn);
	free(*t);
	*t = NULL;
}

enum err lmdb_write_begin(struct lmdb_env *e, struct lmdb_txn **t, struct fault *f)
{
	enum err rc = begin(e, 0, t, f);

	if (rc != ERR_OK)
		return rc;
	rc = lmdb_error(mdb_cursor_open((*t)->txn, e->tree[LMDB_KEYS], &(*t)->put), f);
	return rc == ERR_OK ? rc : lmdb_write_end(t, rc, f);
}

enum err lmdb_write_end(struct lmdb_txn **tp, enum err rc, struct fault *f)
{
	struct lmdb_txn *t = *tp;

	*tp = NULL;
	if (t->put != NULL)
		mdb_cursor_close(t->put);
	if (rc == ERR_OK)
		rc = lmdb_error(mdb_txn_commit(t->txn), f);
	else
		mdb_txn_abort(t->txn);
	free(t);
	return rc;
}

enum err lmdb_get(struct lmdb_txn *t, enum lmdb_tree tree, struct slice key, struct slice *value, struct fault *f)
{
	MDB_val k = val(key), v;
	int rc = mdb_get(t->txn, t->env->tree[tree], &k, &v);

	*value = rc == 0 ? slice(&v) : SLICE_NONE;
	return rc == MDB_NOTFOUND ? ERR_OK : lmdb_error(rc, f);
}

enum err lmdb_put(struct lmdb_txn *t, enum lmdb_tree tree, struct slice key, struct slice value, struct fault *f)
{
	MDB_val k = val(key), v = val(value);

	return lmdb_error(tree == LMDB_KEYS ? mdb_cursor_put(t->put, &k, &v, 0)
					    : mdb_put(t->txn, t->env->tree[tree], &k, &v, 0), f);
}

enum err lmdb_del(struct lmdb_txn *t, enum lmdb_tree tree, struct slice key, struct fault *f)
{
	MDB_val k = val(key);
	int rc = mdb_del(t->txn, t->env->tree[tree], &k, NULL);

	return rc == MDB_NOTFOUND ? ERR_OK : lmdb_error(rc, f);
}

/* ---- cursors ---- */

enum err lmdb_cursor_open(struct lmdb_txn *t, enum lmdb_tree tree, struct MDB_cursor **c, struct fault *f)
{
	int rc = mdb_cursor_open(t->txn, t->env->tree[tree], c);

	if (rc != 0)
		*c = NULL;
	return lmdb_error(rc, f);
}

void lmdb_cursor_close(struct MDB_cursor **c)
{
	if (*c != NULL)
		mdb_cursor_close(*c);
	*c = NULL;
}

enum err lmdb_cursor_move(struct MDB_cursor *c, enum lmdb_move move, struct slice *key, struct slice *value,
	struct fault *f)
{
	static const MDB_cursor_op op[] = { [LMDB_SEEK] = MDB_SET_RANGE, [LMDB_FIRST] = MDB_FIRST,
		[LMDB_LAST] = MDB_LAST, [LMDB_NEXT] = MDB_NEXT, [LMDB_PREV] = MDB_PREV };
	MDB_val k = val(*key), v;
	int rc = mdb_cursor_get(c, &k, &v, op[move]);

	*key = rc == 0 ? slice(&k) : SLICE_NONE;
	*value = rc == 0 ? slice(&v) : SLICE_NONE;
	return rc == MDB_NOTFOUND ? ERR_OK : lmdb_error(rc, f);
}
