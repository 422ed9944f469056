/* dynaxd - a caching accelerator and store for the DynamoDB data model. */
#include <stdio.h>
#include <stdlib.h>

#include "proxy/server.h"

int main(int argc, char **argv)
{
	struct config_error e = { "" };
	struct config c;
	struct server *s;
	bool ok;

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
	return ok ? EXIT_SUCCESS : EXIT_FAILURE;
}
