/* partition_list - see partition_list.h. */
#include "proxy/partition_list.h"

#include <inttypes.h>

#include "protocol/json.h"

struct partition_list {
	struct buf *out;
	unsigned n;
};

static void put_key(struct buf *out, struct slice key)
{
	uint32_t n;
	struct mp m = value_pairs(key, &n);

	buf_printf(out, "\"Key\":{");
	for (uint32_t i = 0; i < n; i++) {
		buf_printf(out, "%s", i != 0 ? "," : "");
		json_write_string(out, mp_str(&m));
		buf_printf(out, ":");
		json_write_value(out, mp_skip(&m));
	}
	buf_printf(out, "}");
}

static void put_hot_key(struct buf *out, const struct store_hot_key *k)
{
	buf_printf(out, "{");
	if (slice_present(k->key))
		put_key(out, k->key);
	else /* what had it is gone */
		buf_printf(out, "\"Hash\":\"%016" PRIx64 "\"", k->hash);
	buf_printf(out, ",\"ReadShare\":%.2f,\"WriteShare\":%.2f}", k->share[METER_READ], k->share[METER_WRITE]);
}

static void put_heat(struct buf *out, const struct store_partition *p)
{
	buf_printf(out, "\"ReadUnitsPerSecond\":%.1f,\"WriteUnitsPerSecond\":%.1f,", p->load[METER_READ], p->load[METER_WRITE]);
	buf_printf(out, "\"ThrottledReads\":%" PRIu64 ",\"ThrottledWrites\":%" PRIu64 ",\"HottestKeys\":[", p->refused[METER_READ],
		p->refused[METER_WRITE]);
	for (unsigned i = 0; i < p->hot_keys; i++) {
		buf_printf(out, "%s", i != 0 ? "," : "");
		put_hot_key(out, &p->hot[i]);
	}
	buf_printf(out, "],");
}

/* Names of indexes need no escapes: they are made of letters, digits and "_.-". */
static void put_partition(void *arg, const struct store_partition *p)
{
	struct partition_list *l = arg;

	buf_printf(l->out, "%s\n{", l->n++ != 0 ? "," : "");
	if (slice_present(p->index))
		buf_printf(l->out, "\"IndexName\":\"%.*s\",", SLICE_FMT(p->index));
	buf_printf(l->out, "\"FirstHash\":\"%016" PRIx64 "\",\"LastHash\":\"%016" PRIx64 "\",", p->first, p->last);
	if (p->counted)
		buf_printf(l->out, "\"ItemCount\":%" PRIu64 ",\"SizeBytes\":%" PRIu64 ",", p->entries, p->bytes);
	put_heat(l->out, p);
	buf_printf(l->out, "\"Counted\":%s}", p->counted ? "true" : "false");
}

bool partition_list_write(struct backend *b, struct slice table, struct buf *out)
{
	struct partition_list l = { out, 0 };

	buf_printf(out, "{\"Partitions\":[");
	if (b->ops->partitions(b, table, put_partition, &l, NULL) != ERR_OK)
		return false;
	buf_printf(out, "]}\n");
	return true;
}
