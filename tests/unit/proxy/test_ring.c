/* test_ring - writes to several sockets with one call (ring.h). */
#include <criterion/criterion.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "proxy/ring.h"

TestSuite(ring, .timeout = 30);

static struct ring *make(void)
{
	struct ring *r = ring_new();

	if (r == NULL)
		cr_skip_test("this kernel does not offer io_uring to us");
	return r;
}

struct pair { int ours, theirs; };

static struct pair make_pair(void)
{
	int fd[2];

	cr_assert_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fd), 0);
	return (struct pair){ fd[0], fd[1] };
}

static void expect(int fd, const char *text)
{
	char got[64];
	ssize_t n = read(fd, got, sizeof got);

	cr_assert_eq(n, (ssize_t)strlen(text));
	cr_assert_eq(memcmp(got, text, (size_t)n), 0);
}

/* The ring's descriptor, behind its back. */
static void close_ring(void)
{
	DIR *d = opendir("/proc/self/fd");
	char name[64];

	for (struct dirent *e; (e = readdir(d)) != NULL;) {
		ssize_t n = readlinkat(dirfd(d), e->d_name, name, sizeof name - 1);

		name[n > 0 ? n : 0] = '\0';
		if (strstr(name, "io_uring") != NULL)
			close(atoi(e->d_name));
	}
	closedir(d);
}

/* As many as fit, over and over: each writes its own. */
Test(ring, each_gets_its_bytes)
{
	struct ring *r = make();
	struct pair p[RING_WRITES];
	struct ring_write w[RING_WRITES];
	char text[RING_WRITES][16];

	for (unsigned i = 0; i < RING_WRITES; i++)
		p[i] = make_pair();
	for (unsigned round = 0; round < 100; round++) {
		for (unsigned i = 0; i < RING_WRITES; i++) {
			int n = snprintf(text[i], sizeof text[i], "%u of %u", i, round);

			w[i] = (struct ring_write){ .fd = p[i].ours, .p = text[i], .n = (size_t)n };
		}
		cr_assert(ring_write(r, w, RING_WRITES));
		for (unsigned i = 0; i < RING_WRITES; i++) {
			cr_assert_eq(w[i].done, (ssize_t)w[i].n);
			expect(p[i].theirs, text[i]);
		}
	}
	ring_free(&r);
	cr_assert_null(r);
}

Test(ring, one_that_fails_says_what_it_has_not_written)
{
	struct ring *r = make();
	struct pair a = make_pair(), b = make_pair();
	struct ring_write w[2] = { { .fd = a.ours, .p = "a", .n = 1, .done = 1 }, { .fd = b.ours, .p = "b", .n = 1, .done = 1 } };
	char byte;

	close_ring();
	cr_assert_not(ring_write(r, w, 2));
	cr_assert(w[0].done == 0 && w[1].done == 0);
	cr_assert_eq(read(a.theirs, &byte, 1), -1);
	cr_assert_eq(read(b.theirs, &byte, 1), -1);
	ring_free(&r);
}

/* None keeps the others waiting, nor ends the process. */
Test(ring, full_and_closed_sockets_say_so)
{
	static char much[1 << 20];
	struct ring *r = make();
	struct pair full = make_pair(), gone = make_pair(), good = make_pair();
	struct ring_write w[3] = { { .fd = full.ours, .p = much, .n = sizeof much }, { .fd = gone.ours, .p = "x", .n = 1 },
		{ .fd = good.ours, .p = "here", .n = 4 } };

	close(gone.theirs);
	cr_assert(ring_write(r, w, 3));
	cr_assert(w[0].done > 0 && w[0].done < (ssize_t)sizeof much, "%zd", w[0].done);
	cr_assert_eq(w[1].done, -EPIPE);
	cr_assert_eq(w[2].done, 4);
	expect(good.theirs, "here");
	while (w[0].done > 0)
		cr_assert(ring_write(r, w, 1));
	cr_assert_eq(w[0].done, -EAGAIN);
	ring_free(&r);
}
