/* segment - files of the log; see segment.h. */
#include "store/engine/segment.h"

#include "protocol/messages.h"
#include "store/engine/failpoint.h"
#include "store/engine/file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FILL_STEP = 1 << 18 };

void segment_name(char out[SEGMENT_NAME], uint64_t seq)
{
	snprintf(out, SEGMENT_NAME, "%016" PRIx64 ".log", seq);
}

bool segment_number(const char *name, uint64_t *seq)
{
	char again[SEGMENT_NAME];

	if (sscanf(name, "%16" SCNx64 ".log", seq) != 1)
		return false;
	segment_name(again, *seq);
	return strcmp(name, again) == 0;
}

static struct segment *segment_new(int fd, uint64_t seq, size_t capacity)
{
	struct segment *s = calloc(1, sizeof *s);

	if (s == NULL)
		return NULL;
	s->fd = fd;
	s->seq = seq;
	s->capacity = capacity;
	s->tail = LOG_SEGMENT_HEADER;
	atomic_init(&s->end, LOG_SEGMENT_HEADER);
	return s;
}

static int open_nameless(void)
{
	const char *tmp = getenv("TMPDIR");
	char path[4096];
	int fd = open(tmp != NULL ? tmp : "/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

	if (fd >= 0)
		return fd;
	/* a file system that knows no O_TMPFILE */
	snprintf(path, sizeof path, "%s/dynax-XXXXXX", tmp != NULL ? tmp : "/tmp");
	fd = mkostemp(path, O_CLOEXEC);
	if (fd >= 0)
		unlink(path);
	return fd;
}

/* Make fd n bytes long and written: fallocate alone leaves extents that are marked unwritten, and the first sync of each would
 * wait for a journal commit. Synced in steps, each a turn: the log, which is being written to meanwhile, waits for one of them. */
static int fill(int fd, size_t n, struct turn *turn)
{
	int error = posix_fallocate(fd, 0, (off_t)n);
	uint8_t *zeros = calloc(1, FILL_STEP);

	if (zeros == NULL)
		error = ENOMEM;
	for (size_t at = 0; at < n && error == 0; at += FILL_STEP) {
		error = file_write_at(fd, zeros, n - at < FILL_STEP ? n - at : FILL_STEP, (off_t)at);
		if (error != 0)
			break;
		turn_take_background(turn);
		error = sync_file_range(fd, (off_t)at, FILL_STEP, SYNC_FILE_RANGE_WRITE | SYNC_FILE_RANGE_WAIT_AFTER) == 0 ? 0 : errno;
		turn_give(turn);
	}
	free(zeros);
	return error;
}

static int make_file(int dirfd, const char *name, size_t bytes, struct turn *turn, int *fd)
{
	int error = failpoint(FAILPOINT_SEGMENT_CREATE);

	*fd = -1;
	if (error != 0)
		return error;
	*fd = dirfd < 0 ? open_nameless() : openat(dirfd, name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (*fd < 0)
		return errno;
	if (dirfd < 0)
		return 0;
	error = fill(*fd, bytes, turn);
	if (error == 0)
		error = failpoint(FAILPOINT_SEGMENT_CREATED);
	if (error == 0 && (fsync(*fd) != 0 || fsync(dirfd) != 0))
		error = errno;
	return error;
}

enum err segment_create(int dirfd, uint64_t seq, size_t bytes, struct turn *turn, struct segment **s, struct fault *f)
{
	char name[SEGMENT_NAME];
	int fd, error;

	segment_name(name, seq);
	error = make_file(dirfd, name, bytes, turn, &fd);
	*s = error == 0 ? segment_new(fd, seq, bytes) : NULL;
	if (*s != NULL)
		return ERR_OK;
	if (fd >= 0) {
		close(fd);
		if (dirfd >= 0)
			unlinkat(dirfd, name, 0);
	}
	return file_error(error != 0 ? error : ENOMEM, name, f);
}

enum err segment_open(int dirfd, uint64_t seq, struct segment **s, struct fault *f)
{
	char name[SEGMENT_NAME];
	struct stat st;

	*s = NULL;
	segment_name(name, seq);
	int fd = openat(dirfd, name, O_RDWR | O_CLOEXEC);

	if (fd < 0)
		return file_error(errno, name, f);
	if (fstat(fd, &st) == 0)
		*s = segment_new(fd, seq, (size_t)st.st_size);
	if (*s != NULL)
		return ERR_OK;
	close(fd);
	return fault_set(f, MSG_NO_MEMORY);
}

void segment_close(struct segment **s)
{
	if (*s == NULL)
		return;
	close((*s)->fd);
	free(*s);
	*s = NULL;
}

bool segment_rename(int dirfd, struct segment *s, uint64_t seq)
{
	char from[SEGMENT_NAME], to[SEGMENT_NAME];

	segment_name(from, s->seq);
	segment_name(to, seq);
	if (failpoint(FAILPOINT_SEGMENT_RECYCLE) != 0 || renameat(dirfd, from, dirfd, to) != 0)
		return false;
	s->seq = seq;
	s->tail = LOG_SEGMENT_HEADER;
	atomic_store(&s->end, LOG_SEGMENT_HEADER);
	s->next = NULL;
	return failpoint(FAILPOINT_SEGMENT_RECYCLED) == 0 && fsync(dirfd) == 0;
}

void segment_unlink(int dirfd, const struct segment *s)
{
	char name[SEGMENT_NAME];

	(void)failpoint(FAILPOINT_SEGMENT_REMOVE);
	segment_name(name, s->seq);
	if (dirfd >= 0)
		unlinkat(dirfd, name, 0);
}
