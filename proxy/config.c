/* config.c - the table of options and what walks it. */
#include "proxy/config.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proxy/backend.h"

enum kind { TEXT, ADDRESS, BYTES, COUNT, WORKERS, READERS, MILLIS, DURABILITY, LEVEL, HAND_OVER, CAPACITY, FLAG, SWITCH };

struct option {
	const char *name;
	enum kind kind;
	size_t at, bytes;          /* the field */
	const char *value;         /* default, as it would be written */
	bool reload;               /* takes effect on SIGHUP */
	const char *arg, *help;
};

#define FIELD(f) offsetof(struct config, f), sizeof(((struct config *)NULL)->f)
#define RELOAD true
#define RESTART false

static const struct option options[] = {
	{ "data", TEXT, FIELD(data), "./dynax-data", RESTART, "DIR", "directory of the store" },
	{ "memory", FLAG, FIELD(memory), "off", RESTART, NULL, "keep the store in memory; it is lost at the end" },
	{ "http", ADDRESS, FIELD(http), "127.0.0.1:8000", RESTART, "HOST:PORT", "DynamoDB's HTTP API" },
	{ "listen", ADDRESS, FIELD(listen), "127.0.0.1:8111", RESTART, "HOST:PORT", "the msgpack protocol" },
	{ "admin", ADDRESS, FIELD(admin), "127.0.0.1:8112", RESTART, "HOST:PORT", "metrics, health and administration" },
	{ "threads", WORKERS, FIELD(threads), "0", RESTART, "N", "worker threads, at most 256; 0 = one for each processor" },
	{ "item-cache", BYTES, FIELD(item_cache), "256M", RESTART, "BYTES", "size of the item cache; 0 = off" },
	{ "query-cache", BYTES, FIELD(query_cache), "64M", RESTART, "BYTES", "size of the cache of Query and Scan pages; 0 = off" },
	{ "item-ttl", MILLIS, FIELD(item_ttl), "0", RESTART, "MS", "longest life of a cached item; 0 = until a write" },
	{ "query-ttl", MILLIS, FIELD(query_ttl), "0", RESTART, "MS", "longest life of a cached page; 0 = until a write" },
	{ "durability", DURABILITY, FIELD(durability), "sync", RESTART, "sync|async|none", "when a write is acknowledged" },
	{ "config", TEXT, FIELD(config), "", RESTART, "FILE", "read options from a file, one \"name value\" a line" },
	{ "log-level", LEVEL, FIELD(log_level), "info", RELOAD, "LEVEL", "error, warn, info, debug or trace" },
	{ "insecure", FLAG, FIELD(insecure), "off", RESTART, NULL, "allow addresses beyond loopback, though nobody is authenticated" },
	{ "region", TEXT, FIELD(region), "ddblocal", RESTART, "NAME", "the region in ARNs" },
	{ "cors", SWITCH, FIELD(cors), "on", RELOAD, "on|off", "answer browsers of other origins" },
	{ "idle-timeout", MILLIS, FIELD(idle_timeout), "350000", RELOAD, "MS",
		"close a connection that is idle this long; 0 = never" },
	{ "head-timeout", MILLIS, FIELD(head_timeout), "15000", RELOAD, "MS", "time for the head of a request to arrive" },
	{ "body-timeout", MILLIS, FIELD(body_timeout), "30000", RELOAD, "MS",
		"time for a body or frame to arrive, and 1 s for each 64 KB" },
	{ "write-timeout", MILLIS, FIELD(write_timeout), "30000", RELOAD, "MS", "time for a client to read its answers" },
	{ "drain-timeout", MILLIS, FIELD(drain_timeout), "10000", RELOAD, "MS", "time for running requests at the end" },
	{ "max-connections", COUNT, FIELD(max_connections), "0", RESTART, "N", "most connections; 0 = as many as files may be open" },
	{ "reader-threads", READERS, FIELD(reader_threads), "4", RESTART, "N",
		"threads for reads that may wait for the disk, at most 64" },
	{ "hand-over", HAND_OVER, FIELD(hand_over), "auto", RESTART, "auto|always|never",
		"reads go to reader threads; auto = if the data exceed memory" },
	{ "io-uring", SWITCH, FIELD(io_uring), "on", RESTART, "on|off", "write to several sockets at once, if the kernel allows it" },
	{ "overlay", BYTES, FIELD(overlay), "1G", RESTART, "BYTES", "memory for writes that are not in the database yet" },
	{ "ttl-interval", MILLIS, FIELD(ttl_interval), "5000", RESTART, "MS", "how often to look for expired items" },
	{ "capacity", CAPACITY, FIELD(capacity), "declared", RESTART, "declared|aws|account|off",
		"limits of throughput: enforced, only counted, neither" },
	{ "partition-bytes", BYTES, FIELD(partition_bytes), "10G", RESTART, "BYTES", "a larger partition is split in two" },
	{ "collection-bytes", BYTES, FIELD(collection_bytes), "10G", RESTART, "BYTES",
		"limit of item collections, with local indexes" },
	{ "partition-wcu", COUNT, FIELD(partition_wcu), "1000", RESTART, "N", "write units a second of one partition" },
	{ "partition-rcu", COUNT, FIELD(partition_rcu), "3000", RESTART, "N", "read units a second of one partition" },
	{ "table-delay", MILLIS, FIELD(table_delay), "0", RESTART, "MS", "how long tables are CREATING, UPDATING and DELETING" },
	{ "index-delay", MILLIS, FIELD(index_delay), "0", RELOAD, "MS", "how much later global indexes change" },
	{ "test-clock", FLAG, FIELD(test_clock), "off", RESTART, NULL, "time stands still; POST /clock?advance=SECONDS moves it" },
	{ "map-max", BYTES, FIELD(map_max), "1024G", RELOAD, "BYTES", "largest size of the database file" },
};
enum { OPTIONS = sizeof(options) / sizeof(options[0]) };

static bool complain(struct config_error *e, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static bool complain(struct config_error *e, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(e->text, sizeof(e->text), fmt, ap);
	va_end(ap);
	return false;
}

/* ---- values ---- */

static bool parse_uint(const char *s, const char **end, uint64_t *out)
{
	char *stop;

	if (!isdigit((unsigned char)*s))
		return false;
	errno = 0;
	*out = strtoull(s, &stop, 10);
	*end = stop;
	return errno == 0;
}

bool parse_bytes(const char *s, uint64_t *out)
{
	static const char suffix[] = "KMGT";
	const char *end, *at;
	uint64_t v;
	unsigned shift = 0;

	if (!parse_uint(s, &end, &v))
		return false;
	if (*end != '\0') {
		at = strchr(suffix, toupper((unsigned char)*end));
		if (at == NULL || end[1] != '\0')
			return false;
		shift = 10 * (unsigned)(at - suffix + 1);
	}
	if (v > (UINT64_MAX >> shift))
		return false;
	*out = v << shift;
	return true;
}

static bool parse_number(const char *s, uint64_t max, uint64_t *out)
{
	const char *end;

	return parse_uint(s, &end, out) && *end == '\0' && *out <= max;
}

bool parse_address(const char *s, struct address *out)
{
	const char *colon = strrchr(s, ':'), *host = s;
	uint64_t port;
	size_t n;

	if (colon == NULL || !parse_number(colon + 1, UINT16_MAX, &port))
		return false;
	n = (size_t)(colon - s);
	if (*s == '[') {
		if (n < 3 || s[n - 1] != ']')
			return false;
		host = s + 1;
		n -= 2;
	} else if (memchr(s, ':', n) != NULL) {
		return false; /* an IPv6 address needs its brackets */
	}
	if (n == 0 || n >= sizeof(out->host))
		return false;
	memset(out, 0, sizeof(*out));
	memcpy(out->host, host, n);
	out->port = (uint16_t)port;
	return true;
}

struct address_text address_text(const struct address *a)
{
	bool v6 = strchr(a->host, ':') != NULL;
	struct address_text t;

	snprintf(t.s, sizeof(t.s), v6 ? "[%s]:%u" : "%s:%u", a->host, a->port);
	return t;
}

static bool parse_word(const char *s, const char *const *word, unsigned n, unsigned *out)
{
	for (unsigned i = 0; i < n; i++)
		if (strcmp(s, word[i]) == 0) {
			*out = i;
			return true;
		}
	return false;
}

static bool parse_switch(const char *s, bool *out)
{
	static const char *const word[] = { "off", "on", "false", "true", "no", "yes", "0", "1" };
	unsigned i;

	if (!parse_word(s, word, 8, &i))
		return false;
	*out = i % 2 != 0;
	return true;
}

/* The largest number that a count may be; 0: the kind is not a count. */
static unsigned most(enum kind kind)
{
	switch (kind) {
	case COUNT:
		return 1u << 20;
	case WORKERS:
		return CONFIG_THREADS_MAX;
	case READERS:
		return BACKEND_READERS_MAX;
	default:
		return 0;
	}
}

static bool set_value(struct config *c, const struct option *o, const char *s)
{
	static const char *const durability[] = { "sync", "async", "none" };
	static const char *const hand_over[] = { "auto", "always", "never" };
	static const char *const capacity[] = { "declared", "aws", "account", "off" };
	char *field = (char *)c + o->at;
	uint64_t v = 0;
	unsigned word = 0;
	bool ok = false;

	switch (o->kind) {
	case TEXT:
		if (strlen(s) < o->bytes) {
			memset(field, 0, o->bytes);
			memcpy(field, s, strlen(s));
			ok = true;
		}
		break;
	case ADDRESS:
		ok = parse_address(s, (struct address *)(void *)field);
		break;
	case BYTES:
	case MILLIS:
		ok = o->kind == BYTES ? parse_bytes(s, &v) : parse_number(s, UINT32_MAX, &v);
		if (ok)
			*(uint64_t *)(void *)field = v;
		break;
	case COUNT:
	case WORKERS:
	case READERS:
		ok = parse_number(s, most(o->kind), &v);
		if (ok)
			*(unsigned *)(void *)field = (unsigned)v;
		break;
	case DURABILITY:
		ok = parse_word(s, durability, 3, &word);
		if (ok)
			*(enum durability *)(void *)field = (enum durability)word;
		break;
	case LEVEL:
		ok = parse_word(s, log_level_name, LOG_LEVELS, &word);
		if (ok)
			*(enum log_level *)(void *)field = (enum log_level)word;
		break;
	case HAND_OVER:
		ok = parse_word(s, hand_over, 3, (unsigned *)(void *)field);
		break;
	case CAPACITY:
		ok = parse_word(s, capacity, 4, (unsigned *)(void *)field);
		break;
	case FLAG:
	case SWITCH:
		ok = parse_switch(s, (bool *)(void *)field);
		break;
	}
	return ok;
}

static const struct option *option_find(const char *name, size_t n)
{
	for (unsigned i = 0; i < OPTIONS; i++)
		if (strlen(options[i].name) == n && memcmp(options[i].name, name, n) == 0)
			return &options[i];
	return NULL;
}

bool config_set(struct config *c, const char *name, const char *value, struct config_error *e)
{
	const struct option *o = option_find(name, strlen(name));

	if (o == NULL)
		return complain(e, "unknown option '%s'", name);
	if (set_value(c, o, value))
		return true;
	if (most(o->kind) > 0)
		return complain(e, "bad value '%s' for --%s: expected %s, at most %u", value, o->name, o->arg, most(o->kind));
	return complain(e, "bad value '%s' for --%s: expected %s", value, o->name, o->arg != NULL ? o->arg : "on|off");
}

void config_defaults(struct config *c)
{
	memset(c, 0, sizeof(*c));
	for (unsigned i = 0; i < OPTIONS; i++)
		set_value(c, &options[i], options[i].value);
}

/* ---- file ---- */

static char *trim(char *s)
{
	char *end;

	while (isspace((unsigned char)*s))
		s++;
	end = s + strlen(s);
	while (end > s && isspace((unsigned char)end[-1]))
		*--end = '\0';
	return s;
}

static bool load_line(struct config *c, char *line, struct config_error *e)
{
	char *name = trim(line), *value;

	if (*name == '\0' || *name == '#')
		return true;
	value = name + strcspn(name, " \t=");
	if (*value != '\0') {
		char *rest = trim(value + 1);

		if (*value != '=' && *rest == '=')
			rest = trim(rest + 1);
		*value = '\0';
		value = rest;
	} else {
		static char on[] = "on";
		const struct option *o = option_find(name, strlen(name));

		if (o != NULL && o->kind == FLAG)
			value = on;
	}
	if (strcmp(name, "config") == 0)
		return complain(e, "one file cannot name another");
	return config_set(c, name, value, e);
}

static bool load_file(struct config *c, const char *path, struct config_error *e)
{
	struct config_error inner;
	FILE *f = fopen(path, "re");
	unsigned number = 0;
	char *line = NULL;
	size_t room = 0;
	bool ok = f != NULL;

	while (ok && getline(&line, &room, f) >= 0) {
		number++;
		ok = load_line(c, line, &inner);
		if (!ok)
			complain(e, "%.200s:%u: %.280s", path, number, inner.text);
	}
	if (f == NULL || ferror(f))
		ok = complain(e, "cannot read %s: %s", path, strerror(errno));
	free(line);
	if (f != NULL)
		fclose(f);
	return ok;
}

/* ---- command line ---- */

/* One option off argv[*i]; its name without dashes and its value. */
static bool next_arg(int argc, char *const *argv, int *i, const struct option **o, const char **value, struct config_error *e)
{
	const char *arg = argv[*i], *eq;
	size_t n;

	if (strncmp(arg, "--", 2) != 0 || arg[2] == '\0')
		return complain(e, "unexpected argument '%s' (see --help)", arg);
	eq = strchr(arg, '=');
	n = eq != NULL ? (size_t)(eq - arg - 2) : strlen(arg + 2);
	*o = option_find(arg + 2, n);
	if (*o == NULL)
		return complain(e, "unknown option '--%.*s' (see --help)", (int)n, arg + 2);
	if (eq != NULL)
		*value = eq + 1;
	else if ((*o)->kind == FLAG)
		*value = "on";
	else if (*i + 1 < argc)
		*value = argv[++*i];
	else
		return complain(e, "option --%s needs a value: %s", (*o)->name, (*o)->arg);
	return true;
}

static bool load_args(struct config *c, int argc, char *const *argv, bool only_config, struct config_error *e)
{
	for (int i = 1; i < argc; i++) {
		const struct option *o = NULL;
		const char *value = NULL;

		if (!next_arg(argc, argv, &i, &o, &value, e))
			return false;
		if (only_config && strcmp(o->name, "config") != 0)
			continue;
		if (!config_set(c, o->name, value, e))
			return false;
	}
	return true;
}

enum config_action config_load(struct config *c, int argc, char *const *argv, struct config_error *e)
{
	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0)
			return CONFIG_HELP;
		if (strcmp(argv[i], "--version") == 0)
			return CONFIG_VERSION;
	}
	config_defaults(c);
	if (!load_args(c, argc, argv, true, e))
		return CONFIG_BAD;
	if (c->config[0] != '\0' && !load_file(c, c->config, e))
		return CONFIG_BAD;
	return load_args(c, argc, argv, false, e) ? CONFIG_RUN : CONFIG_BAD;
}

void config_help(void)
{
	printf("usage: dynaxd [options]\n\nA caching accelerator and store for the DynamoDB data model.\n\n");
	for (unsigned i = 0; i < OPTIONS; i++) {
		const struct option *o = &options[i];
		char left[48];

		snprintf(left, sizeof(left), "--%s %s", o->name, o->arg != NULL ? o->arg : "");
		printf("  %-38s %s", left, o->help);
		if (o->arg != NULL && o->value[0] != '\0')
			printf(" (%s)", o->value);
		printf("\n");
	}
	printf("  %-38s %s\n  %-38s %s\n", "--version", "print the version", "--help", "print this");
	printf("\nBYTES take the suffixes K, M, G and T. SIGHUP reads the options again.\n");
}

/* ---- reload ---- */

void config_changes(const struct config *from, const struct config *to,
	void (*fn)(void *arg, const char *name, bool reloadable), void *arg)
{
	for (unsigned i = 0; i < OPTIONS; i++) {
		const struct option *o = &options[i];

		if (memcmp((const char *)from + o->at, (const char *)to + o->at, o->bytes) != 0)
			fn(arg, o->name, o->reload);
	}
}

void config_adopt(struct config *running, const struct config *next)
{
	for (unsigned i = 0; i < OPTIONS; i++)
		if (options[i].reload)
			memcpy((char *)running + options[i].at, (const char *)next + options[i].at, options[i].bytes);
}
