/* config - the daemon's options, from the command line and a file.
 *
 * One table (config.c) holds name, kind, default and help of each option; the command line, the file, --help and a reload
 * all walk it. A file has lines "name value" or "name = value", with # comments; the command line wins over it.
 *
 * Threads: main thread only; others see a config as constant. */
#ifndef DYNAX_PROXY_CONFIG_H
#define DYNAX_PROXY_CONFIG_H

#include <stdbool.h>
#include <stdint.h>

#include "proxy/log.h"
#include "store/engine/engine.h"

enum { CONFIG_TEXT_MAX = 1024, CONFIG_THREADS_MAX = 256 };

/* "127.0.0.1:8000", "[::1]:8000", "localhost:0" */
struct address {
	char host[256];
	uint16_t port;
};

/* The same as text, with the brackets that an IPv6 address needs. */
struct address_text {
	char s[sizeof(((struct address *)0)->host) + sizeof("[]:65535")];
};
struct address_text address_text(const struct address *a);

struct config {
	char data[CONFIG_TEXT_MAX];
	bool memory;
	struct address http, listen, admin;
	unsigned threads;              /* 0 = one a processor */
	uint64_t item_cache, query_cache;
	uint64_t item_ttl, query_ttl;  /* ms */
	enum durability durability;
	char config[CONFIG_TEXT_MAX];
	enum log_level log_level;
	bool insecure;
	char region[64];
	bool cors;
	uint64_t idle_timeout, head_timeout, body_timeout, write_timeout, drain_timeout; /* ms */
	unsigned max_connections;      /* 0 = what descriptors allow */
	unsigned reader_threads;
	unsigned hand_over;            /* enum hand_over */
	bool io_uring;
	uint64_t overlay, map_max;
	uint64_t ttl_interval;         /* ms */
	uint64_t table_delay;          /* ms */
	bool test_clock;
	unsigned capacity;             /* enum capacity_mode */
	uint64_t index_delay;
	uint64_t partition_bytes, collection_bytes;
	unsigned partition_wcu, partition_rcu;
};

enum config_action { CONFIG_RUN, CONFIG_HELP, CONFIG_VERSION, CONFIG_BAD };

struct config_error {
	char text[512];
};

/* Defaults, then the file named by --config, then the command line. On CONFIG_BAD, e says what is wrong, in one line. */
enum config_action config_load(struct config *c, int argc, char *const *argv, struct config_error *e);
/* Set one option by name, as a file does. */
bool config_set(struct config *c, const char *name, const char *value, struct config_error *e);
void config_defaults(struct config *c);
/* The text of --help. */
void config_help(void);

/* What differs between two configs: calls fn with each changed option's name and whether it takes effect without a restart. */
void config_changes(const struct config *from, const struct config *to,
	void (*fn)(void *arg, const char *name, bool reloadable), void *arg);
/* Take over the options that may change while running. */
void config_adopt(struct config *running, const struct config *next);

bool parse_bytes(const char *s, uint64_t *out);
bool parse_address(const char *s, struct address *out);

#endif
