/* retry - see retry.h. */
#include "protocol/client/retry.h"

#include "protocol/monotonic.h"

static unsigned or_default(unsigned v, unsigned otherwise)
{
	return v != 0 ? v : otherwise;
}

struct dynax_opts retry_opts(const struct dynax_opts *given)
{
	static const struct dynax_opts none = { 0 };
	const struct dynax_opts *o = given != NULL ? given : &none;

	return (struct dynax_opts){
		.connect_timeout_ms = or_default(o->connect_timeout_ms, 2000),
		.timeout_ms = or_default(o->timeout_ms, 5000),
		.attempts = or_default(o->attempts, 3),
		.backoff_ms = or_default(o->backoff_ms, 20),
		.backoff_max_ms = or_default(o->backoff_max_ms, 1000),
		.connections = or_default(o->connections, 8),
	};
}

bool retry_allowed(enum op op, bool resend, enum err code, bool unsent)
{
	bool reads = op == OP_COUNT || op_info[op].kind == OP_READ || op_info[op].kind == OP_DESCRIBE;

	switch (code) {
	case ERR_THROUGHPUT_EXCEEDED:
	case ERR_THROTTLING:
	case ERR_REQUEST_LIMIT_EXCEEDED:
		return true;
	case ERR_NETWORK:
	case ERR_UNAVAILABLE:
	case ERR_INTERNAL:
		return unsent || reads || resend;
	default:
		return false;
	}
}

uint64_t retry_now(void)
{
	return monotonic_ns() / 1000000u;
}

unsigned retry_wait(const struct dynax_opts *o, unsigned failures)
{
	uint64_t wait = o->backoff_ms; /* doubled, it may need a bit more than the option has */
	uint64_t mixed = monotonic_ns() * 0x9e3779b97f4a7c15u;

	while (failures-- > 1 && wait < o->backoff_max_ms)
		wait *= 2;
	if (wait > o->backoff_max_ms)
		wait = o->backoff_max_ms;
	/* The clock's nanoseconds, spread by a multiplication, are random enough to keep clients apart. */
	return (unsigned)(wait - (mixed >> 33) % (wait / 2 + 1));
}
