/* dynaxd - a caching accelerator and store for the DynamoDB data model. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "proxy/server.h"

/* Descriptors 0, 1 and 2 must be open: the next file opened would take the number of one that is not, and lines of the log
 * would be written into it. */
static bool open_standard(void)
{
	int fd;

	do
		fd = open("/dev/null", O_RDWR);
	while (fd >= 0 && fd <= STDERR_FILENO);
	return fd >= 0 && close(fd) == 0;
}

int main(int argc, char **argv)
{
	struct config_error e = { "" };
	struct config c;
	struct server *s;
	bool ok;

	if (!open_standard())
		return EXIT_FAILURE;
	switch (config_load(&c, argc, argv, &e)) {
	case CONFIG_HELP:
		config_help();
		return EXIT_SUCCESS;
	case CONFIG_VERSION:
		printf("dynaxd %s\n", DYNAX_VERSION);
		return EXIT_SUCCESS;
	case CONFIG_BAD:
		fprintf(stderr, "dynaxd: %s\n", e.text);
		return EXIT_FAILURE;
	case CONFIG_RUN:
		break;
	}
	log_set_level(c.log_level);
	s = server_open(&c, argc, argv, &e);
	if (s == NULL) {
		fprintf(stderr, "dynaxd: %s\n", e.text);
		return EXIT_FAILURE;
	}
	ok = server_run(s);
	server_close(&s);
	log_info("stopped");
	return ok ? EXIT_SUCCESS : EXIT_FAILURE;
}
