/* test_config - options from the command line and a file: units, addresses, precedence, reload, one line for each mistake. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <unistd.h>

#include "proxy/config.h"

Test(config, bytes)
{
	static const struct { const char *text; bool ok; uint64_t v; } t[] = {
		{ "0", true, 0 }, { "123", true, 123 }, { "4k", true, 4096 }, { "4K", true, 4096 }, { "2M", true, 2097152 },
		{ "3G", true, UINT64_C(3221225472) }, { "", false, 0 }, { "K", false, 0 }, { "4KB", false, 0 }, { "4T", true, UINT64_C(4) << 40 },
		{ "4P", false, 0 }, { "-1", false, 0 }, { " 1", false, 0 }, { "0x10", false, 0 }, { "18446744073709551615", true, UINT64_MAX },
		{ "18446744073709551616", false, 0 }, { "18446744073709551615K", false, 0 }, { "17179869184G", false, 0 },
	};

	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		uint64_t v = 0;

		cr_assert_eq(parse_bytes(t[i].text, &v), t[i].ok, "%s", t[i].text);
		if (t[i].ok)
			cr_assert_eq(v, t[i].v, "%s", t[i].text);
	}
}

Test(config, addresses)
{
	static const struct { const char *text, *host; uint16_t port; } t[] = {
		{ "127.0.0.1:8000", "127.0.0.1", 8000 }, { "[::1]:1", "::1", 1 }, { "localhost:0", "localhost", 0 },
		{ "h:65535", "h", 65535 }, { "h:65536", NULL, 0 }, { "h", NULL, 0 }, { ":80", NULL, 0 }, { "h:", NULL, 0 },
		{ "::1:80", NULL, 0 }, { "[::1]", NULL, 0 }, { "[]:80", NULL, 0 }, { "[::1:80", NULL, 0 }, { "h:8x", NULL, 0 },
	};

	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		struct address a;
		bool ok = parse_address(t[i].text, &a);

		cr_assert_eq(ok, t[i].host != NULL, "%s", t[i].text);
		if (ok) {
			cr_assert_str_eq(a.host, t[i].host);
			cr_assert_str_eq(address_text(&a).s, t[i].text);
			cr_assert_eq(a.port, t[i].port);
		}
	}
}

static enum config_action load(struct config *c, struct config_error *e, const char *const *arg)
{
	char *argv[16] = { (char[]){ "dynaxd" } };
	char copy[16][128];
	int argc = 1;

	for (; arg[argc - 1] != NULL; argc++) {
		snprintf(copy[argc], sizeof(copy[argc]), "%s", arg[argc - 1]);
		argv[argc] = copy[argc];
	}
	return config_load(c, argc, argv, e);
}

Test(config, command_line)
{
	static const char *const good[] = { "--data=/x", "--threads", "3", "--insecure", "--durability", "none", "--item-cache=1K",
		"--log-level", "debug", "--cors=off", NULL };
	static const char *const bad[][3] = { { "--data", NULL }, { "--nothing", NULL }, { "word", NULL }, { "--", NULL },
		{ "--threads", "many", NULL }, { "--cors", "perhaps", NULL }, { "--item-ttl", "5s", NULL } };
	struct config_error e;
	struct config c;

	cr_assert_eq(load(&c, &e, good), CONFIG_RUN);
	cr_assert_str_eq(c.data, "/x");
	cr_assert_eq(c.threads, 3);
	cr_assert(c.insecure && !c.memory && !c.cors);
	cr_assert_eq(c.durability, DURABILITY_NONE);
	cr_assert_eq(c.item_cache, 1024);
	cr_assert_eq(c.http.port, 8000);
	cr_assert_geq(c.idle_timeout, 60000);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		e.text[0] = '\0';
		cr_assert_eq(load(&c, &e, bad[i]), CONFIG_BAD, "%s", bad[i][0]);
		cr_assert(e.text[0] != '\0' && strchr(e.text, '\n') == NULL);
	}
}

Test(config, counts_have_their_limits)
{
	static const struct { const char *name, *value, *said; } t[] = {
		{ "threads", "0", NULL }, { "threads", "256", NULL }, { "reader-threads", "64", NULL }, { "partition-wcu", "1048576", NULL },
		{ "threads", "257", "bad value '257' for --threads: expected N, at most 256" },
		{ "reader-threads", "65", "bad value '65' for --reader-threads: expected N, at most 64" },
		{ "partition-wcu", "1048577", "bad value '1048577' for --partition-wcu: expected N, at most 1048576" },
	};
	struct config_error e;
	struct config c;

	config_defaults(&c);
	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		cr_assert_eq(config_set(&c, t[i].name, t[i].value, &e), t[i].said == NULL, "%s %s", t[i].name, t[i].value);
		if (t[i].said != NULL)
			cr_assert_str_eq(e.text, t[i].said);
	}
}

Test(config, help_and_version_win)
{
	static const char *const help[] = { "--nothing", "--help", NULL }, *const version[] = { "--version", NULL };
	struct config_error e;
	struct config c;

	cr_assert_eq(load(&c, &e, help), CONFIG_HELP);
	cr_assert_eq(load(&c, &e, version), CONFIG_VERSION);
}

Test(config, file_under_command_line)
{
	char path[] = "/tmp/dynax-config-XXXXXX";
	const char *arg[] = { "--config", path, "--threads", "7", NULL };
	static const char text[] = "# a comment\n\n  threads 2\nlog-level = warn\ndata =/y z\nmemory\ncors=off\n", bad[] = "what ever\n";
	int fd = mkstemp(path);
	struct config_error e;
	struct config c;

	cr_assert_eq(write(fd, text, sizeof(text) - 1), (ssize_t)sizeof(text) - 1);
	cr_assert_eq(load(&c, &e, arg), CONFIG_RUN, "%s", e.text);
	cr_assert_eq(c.threads, 7);
	cr_assert_eq(c.log_level, LOG_WARN);
	cr_assert_str_eq(c.data, "/y z");
	cr_assert(c.memory && !c.cors);
	cr_assert_eq(write(fd, bad, sizeof(bad) - 1), (ssize_t)sizeof(bad) - 1);
	cr_assert_eq(load(&c, &e, arg), CONFIG_BAD);
	cr_assert(strstr(e.text, ":8: unknown option 'what'") != NULL, "%s", e.text);
	close(fd);
	unlink(path);
}

struct seen { unsigned now, later; };

static void see(void *arg, const char *name, bool reloadable)
{
	struct seen *s = arg;

	(void)name;
	if (reloadable)
		s->now++;
	else
		s->later++;
}

Test(config, reload)
{
	struct seen s = { 0, 0 };
	struct config a, b;
	struct config_error e;

	config_defaults(&a);
	config_defaults(&b);
	config_changes(&a, &b, see, &s);
	cr_assert(s.now == 0 && s.later == 0);
	cr_assert(config_set(&b, "log-level", "trace", &e) && config_set(&b, "threads", "9", &e));
	config_changes(&a, &b, see, &s);
	cr_assert(s.now == 1 && s.later == 1);
	config_adopt(&a, &b);
	cr_assert_eq(a.log_level, LOG_TRACE);
	cr_assert_eq(a.threads, 0);
}
