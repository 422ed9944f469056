/* file - whole reads and writes at an offset, and what errno means to the engine. */
#ifndef DYNAX_STORE_ENGINE_FILE_H
#define DYNAX_STORE_ENGINE_FILE_H

#include "protocol/err.h"
#include "protocol/slice.h"

#include <sys/types.h>

/* ERR_DISK_FULL, ERR_IO, ... for an errno. `what` is the file or the deed, for the text. */
enum err file_error(int error, const char *what, struct fault *f);

/* 0 or an errno. */
int file_write_at(int fd, const void *p, size_t n, off_t at);
/* Reads up to n bytes, fewer only at the end of the file. */
int file_read_at(int fd, void *p, size_t n, off_t at, size_t *got);
/* Of the file system that fd is on: bytes that it has and that are left. Unknown: UINT64_MAX, as of an endless one. */
struct disk_room { uint64_t total, left; };
struct disk_room file_disk_room(int fd);

#endif
