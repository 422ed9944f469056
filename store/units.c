/* units - see units.h. */
#include "store/units.h"

enum { READ, WRITE };
enum { ON_DEMAND_READ = 12000, ON_DEMAND_WRITE = 4000 };

_Static_assert((int)ProvisionedThroughput_ReadCapacityUnits == READ && (int)OnDemandThroughput_MaxReadRequestUnits == READ
	&& (int)WarmThroughput_ReadUnitsPerSecond == READ && (int)ProvisionedThroughput_WriteCapacityUnits == WRITE
	&& (int)OnDemandThroughput_MaxWriteRequestUnits == WRITE && (int)WarmThroughput_WriteUnitsPerSecond == WRITE,
	"one shape under three names");

struct units units_of(struct slice bytes, struct units absent)
{
	struct record r;

	if (!slice_present(bytes) || !record_open(&r, &shape_WarmThroughput, bytes))
		return absent;
	return (struct units){ record_int(&r, READ, absent.read), record_int(&r, WRITE, absent.write) };
}

struct slice units_record(struct units u, struct arena *a, bool *ok)
{
	struct slice out = SLICE_NONE;
	unsigned n = 0;
	struct buf b;

	buf_init(&b);
	size_t at = record_begin(&b);

	if (u.read != 0)
		record_put_int(&b, &n, READ, u.read);
	if (u.write != 0)
		record_put_int(&b, &n, WRITE, u.write);
	record_end(&b, at, n);
	if (!b.failed && n != 0)
		out = arena_copy(a, buf_slice(&b));
	*ok = !b.failed && (n == 0 || slice_present(out));
	buf_release(&b);
	return out;
}

struct units units_max(struct units a, struct units b)
{
	return (struct units){ a.read > b.read ? a.read : b.read, a.write > b.write ? a.write : b.write };
}

struct units units_warm(struct slice given, struct slice provisioned, bool on_demand)
{
	struct units start = on_demand ? (struct units){ ON_DEMAND_READ, ON_DEMAND_WRITE } : units_of(provisioned, UNITS_NONE);

	return units_max(start, units_of(given, start));
}
