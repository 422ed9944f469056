/* dynax bench - options, and the report. */
#include "bench/load/load.h"
#include "bench/load/load_int.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>

static const struct driver *const drivers[] = { &driver_msgpack, &driver_http, &driver_redis, &driver_memcached, &driver_echo };
enum { DRIVERS = sizeof(drivers) / sizeof(drivers[0]) };

static const char help[] =
	"usage: dynax bench [options]\n\n"
	"  --protocol NAME          msgpack (default), http, redis, memcached, echo\n"
	"  --endpoint HOST:PORT     default 127.0.0.1 and the protocol's usual port\n"
	"  --table NAME             default bench\n"
	"  --expire SECOND          items are written with this number as attribute t\n"
	"  --connections N          default 16\n"
	"  --depth N                requests under way on each; default 1\n"
	"  --item-size BYTES        default 100\n"
	"  --keys N                 default 100000\n"
	"  --read-ratio R           share of reads, 0 to 1; default 1\n"
	"  --distribution D         uniform (default), zipf, zipf:THETA\n"
	"  --rate N                 requests a second; latency counts from when each was due. Default: as fast as possible\n"
	"  --duration S             default 5        --requests N   instead of a duration\n"
	"  --warmup S               default 1\n"
	"  --load                   make the table and write every key first\n"
	"  --load-only              that, and no more\n"
	"  --server-pid PID         measure this process' CPU time\n"
	"  --seed N                 of the choice of keys\n"
	"  --samples FILE           a line for each answer: when it was due (monotonic clock) and latency, ns; r, w or e (error)\n"
	"  --json                   print one object\n";

enum {
	OPT_PROTOCOL = 1, OPT_ENDPOINT, OPT_CONNECTIONS, OPT_DEPTH, OPT_ITEM_SIZE, OPT_KEYS, OPT_READ_RATIO, OPT_DISTRIBUTION,
	OPT_RATE, OPT_DURATION, OPT_REQUESTS, OPT_WARMUP, OPT_LOAD, OPT_LOAD_ONLY, OPT_SERVER_PID, OPT_SEED, OPT_JSON,
	OPT_TABLE, OPT_EXPIRE, OPT_SAMPLES, OPT_HELP
};

static const struct option options[] = {
	{ "protocol", required_argument, NULL, OPT_PROTOCOL }, { "endpoint", required_argument, NULL, OPT_ENDPOINT },
	{ "connections", required_argument, NULL, OPT_CONNECTIONS }, { "depth", required_argument, NULL, OPT_DEPTH },
	{ "item-size", required_argument, NULL, OPT_ITEM_SIZE }, { "keys", required_argument, NULL, OPT_KEYS },
	{ "read-ratio", required_argument, NULL, OPT_READ_RATIO }, { "distribution", required_argument, NULL, OPT_DISTRIBUTION },
	{ "rate", required_argument, NULL, OPT_RATE }, { "duration", required_argument, NULL, OPT_DURATION },
	{ "requests", required_argument, NULL, OPT_REQUESTS }, { "warmup", required_argument, NULL, OPT_WARMUP },
	{ "load", no_argument, NULL, OPT_LOAD }, { "load-only", no_argument, NULL, OPT_LOAD_ONLY },
	{ "server-pid", required_argument, NULL, OPT_SERVER_PID }, { "seed", required_argument, NULL, OPT_SEED },
	{ "json", no_argument, NULL, OPT_JSON }, { "table", required_argument, NULL, OPT_TABLE },
	{ "expire", required_argument, NULL, OPT_EXPIRE }, { "samples", required_argument, NULL, OPT_SAMPLES },
	{ "help", no_argument, NULL, OPT_HELP }, { NULL, 0, NULL, 0 },
};

static bool wrong(const char *option, const char *value)
{
	fprintf(stderr, "dynax bench: --%s '%s' makes no sense; see dynax bench --help\n", option, value);
	return false;
}

static bool number(const char *option, const char *text, double min, double max, double *out)
{
	char *end;

	*out = strtod(text, &end);
	return *end == '\0' && end != text && *out >= min && *out <= max ? true : wrong(option, text);
}

static bool take_endpoint(struct load_opts *o, const char *text)
{
	const char *colon = strrchr(text, ':');
	size_t n = colon != NULL ? (size_t)(colon - text) : strlen(text);
	double port = 0;

	if (n == 0 || n >= sizeof(o->host))
		return wrong("endpoint", text);
	memcpy(o->host, text, n);
	o->host[n] = '\0';
	if (colon != NULL && !number("endpoint", colon + 1, 1, 65535, &port))
		return false;
	o->port = (uint16_t)port;
	return true;
}

static bool take_table(struct load_opts *o, const char *text)
{
	if (*text == '\0' || strlen(text) > TABLE_NAME_MAX)
		return wrong("table", text);
	memcpy(o->table, text, strlen(text) + 1);
	return true;
}

static bool take_protocol(struct load_opts *o, const char *text)
{
	for (unsigned i = 0; i < DRIVERS; i++) {
		if (strcmp(drivers[i]->name, text) == 0) {
			o->driver = drivers[i];
			return true;
		}
	}
	return wrong("protocol", text);
}

static bool take_distribution(struct load_opts *o, const char *text)
{
	o->theta = 0;
	if (strcmp(text, "uniform") == 0)
		return true;
	o->theta = 0.99;
	if (strcmp(text, "zipf") == 0)
		return true;
	return strncmp(text, "zipf:", 5) == 0 ? number("distribution", text + 5, 0.01, 0.999, &o->theta) : wrong("distribution", text);
}

static bool take(struct load_opts *o, int option, const char *text)
{
	const char *name = option <= OPT_HELP ? options[option - 1].name : "";
	double v = 0;

	switch (option) {
	case OPT_PROTOCOL:
		return take_protocol(o, text);
	case OPT_ENDPOINT:
		return take_endpoint(o, text);
	case OPT_DISTRIBUTION:
		return take_distribution(o, text);
	case OPT_TABLE:
		return take_table(o, text);
	case OPT_SAMPLES:
		o->samples = fopen(text, "w");
		return o->samples != NULL ? true : wrong(name, text);
	case OPT_EXPIRE:
		return number(name, text, 1, 1e15, &v) ? (o->expire = (int64_t)v, true) : false;
	case OPT_CONNECTIONS:
		return number(name, text, 1, CONNECTIONS_MAX, &v) ? (o->connections = (unsigned)v, true) : false;
	case OPT_DEPTH:
		return number(name, text, 1, DEPTH_MAX, &v) ? (o->depth = (unsigned)v, true) : false;
	case OPT_ITEM_SIZE:
		return number(name, text, 1, VALUE_MAX, &v) ? (o->item_bytes = (size_t)v, true) : false;
	case OPT_KEYS:
		return number(name, text, 1, 1e12, &v) ? (o->keys = (uint64_t)v, true) : false;
	case OPT_READ_RATIO:
		return number(name, text, 0, 1, &o->read_ratio);
	case OPT_RATE:
		return number(name, text, 1, 1e9, &o->rate);
	case OPT_DURATION:
		return number(name, text, 0.01, 1e6, &o->seconds);
	case OPT_WARMUP:
		return number(name, text, 0, 1e6, &o->warmup);
	case OPT_REQUESTS:
		return number(name, text, 1, 1e15, &v) ? (o->requests = (uint64_t)v, true) : false;
	case OPT_SERVER_PID:
		return number(name, text, 1, 1e9, &v) ? (o->server_pid = (int)v, true) : false;
	case OPT_SEED:
		return number(name, text, 0, 1e15, &v) ? (o->seed = (uint64_t)v, true) : false;
	case OPT_LOAD_ONLY:
		o->load_only = true;
		/* fall through */
	case OPT_LOAD:
		o->load = true;
		return true;
	case OPT_JSON:
		o->json = true;
		return true;
	default:
		fprintf(stderr, "see dynax bench --help\n");
		return false;
	}
}

static double us(const struct load_report *r, double share)
{
	return (double)hist_at(&r->latency, share) / 1000;
}

static void print_json(const struct load_report *r, double cpu)
{
	char cpu_text[32] = "null";

	if (cpu >= 0)
		snprintf(cpu_text, sizeof(cpu_text), "%.4f", cpu);
	printf("{\"ops\":%llu,\"errors\":%llu,\"misses\":%llu,\"seconds\":%.3f,\"ops_per_s\":%.1f,\"p50_us\":%.1f,"
		"\"p99_us\":%.1f,\"p999_us\":%.1f,\"max_us\":%.1f,\"server_cpu_us_per_op\":%s}\n",
		(unsigned long long)r->ops, (unsigned long long)r->errors, (unsigned long long)r->misses, r->seconds,
		r->seconds > 0 ? (double)r->ops / r->seconds : 0, us(r, 0.5), us(r, 0.99), us(r, 0.999),
		(double)r->latency.max / 1000, cpu_text);
}

static void print_text(const struct load_opts *o, const struct load_report *r, double cpu)
{
	printf("%s %s:%u, %u connections of depth %u, %zu-byte items, %llu keys, %.0f %% reads\n", o->driver->name, o->host, o->port,
		o->connections, o->depth, o->item_bytes, (unsigned long long)o->keys, o->read_ratio * 100);
	printf("  %llu answers in %.2f s: %.0f a second; %llu errors, %llu misses\n", (unsigned long long)r->ops, r->seconds,
		r->seconds > 0 ? (double)r->ops / r->seconds : 0, (unsigned long long)r->errors, (unsigned long long)r->misses);
	printf("  latency: p50 %.0f us, p99 %.0f us, p99.9 %.0f us, max %.0f us\n", us(r, 0.5), us(r, 0.99), us(r, 0.999),
		(double)r->latency.max / 1000);
	if (cpu >= 0)
		printf("  server CPU: %.3f us a request\n", cpu);
	if (r->error[0] != '\0')
		printf("  first error: %s\n", r->error);
}

static int run(const struct load_opts *o)
{
	static struct load_report r;    /* large, and one a process */
	bool ok = true;
	double cpu;

	if (o->load)
		ok = load_fill(o, &r);
	if (ok && !o->load_only)
		ok = load_run(o, &r);
	if (!ok) {
		fprintf(stderr, "dynax bench: %s:%u: %s\n", o->host, o->port, r.error);
		return 1;
	}
	cpu = r.cpu_us >= 0 && r.ops > 0 ? r.cpu_us / (double)r.ops : -1;
	if (o->json)
		print_json(&r, cpu);
	else
		print_text(o, &r, cpu);
	if (r.errors > 0 && r.error[0] != '\0')
		fprintf(stderr, "dynax bench: first error: %s\n", r.error);
	return r.errors == 0 ? 0 : 1;
}

int load_main(int argc, char **argv)
{
	struct load_opts o = { .driver = &driver_msgpack, .host = "127.0.0.1", .table = "bench", .connections = 16, .depth = 1,
		.item_bytes = 100, .keys = 100000, .seed = 1, .read_ratio = 1, .seconds = 5, .warmup = 1 };
	int c;

	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (c == OPT_HELP) {
			fputs(help, stdout);
			return 0;
		}
		if (!take(&o, c, optarg))
			return 2;
	}
	if (optind < argc) {
		wrong("", argv[optind]);
		return 2;
	}
	if (o.port == 0)
		o.port = o.driver->port;
	if (o.requests != 0)
		o.warmup = 0;
	c = run(&o);
	if (o.samples != NULL && fclose(o.samples) != 0) {
		fprintf(stderr, "dynax bench: the samples could not be written\n");
		c = 1;
	}
	return c;
}
