/* file - see file.h. */
#include "store/engine/file.h"

#include "protocol/messages.h"

#include <errno.h>
#include <sys/statvfs.h>
#include <unistd.h>

enum err file_error(int error, const char *what, struct fault *f)
{
	switch (error) {
	case ENOSPC:
	case EDQUOT:
	case EFBIG:
		return fault_set(f, MSG_ENGINE_DISK_FULL, what);
	case ENOMEM:
		return fault_set(f, MSG_NO_MEMORY);
	default:
		return fault_set(f, MSG_ENGINE_IO, what, strerror(error));
	}
}

int file_write_at(int fd, const void *p, size_t n, off_t at)
{
	const uint8_t *from = p;

	while (n > 0) {
		ssize_t done = pwrite(fd, from, n, at);

		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0)
			return errno;
		from += done;
		at += done;
		n -= (size_t)done;
	}
	return 0;
}

int file_read_at(int fd, void *p, size_t n, off_t at, size_t *got)
{
	uint8_t *to = p;

	*got = 0;
	while (*got < n) {
		ssize_t done = pread(fd, to + *got, n - *got, at + (off_t)*got);

		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0)
			return errno;
		if (done == 0)
			break;
		*got += (size_t)done;
	}
	return 0;
}

struct disk_room file_disk_room(int fd)
{
	struct statvfs v;

	if (fd < 0 || fstatvfs(fd, &v) != 0)
		return (struct disk_room){ UINT64_MAX, UINT64_MAX };
	return (struct disk_room){ (uint64_t)v.f_blocks * v.f_frsize, (uint64_t)v.f_bavail * v.f_frsize };
}
