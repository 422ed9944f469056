/* update_ttl - UpdateTimeToLive: times to live begin and end. What they do: ttl.h. */
#include "protocol/messages.h"
#include "store/table_edit.h"
#include "store/table_state.h"
#include "store/ttl.h"

static enum err check_ttl(const struct catalog_table *t, struct slice attribute, bool enable, struct fault *f)
{
	struct slice now = t->facts.ttl_attribute;

	if (!enable && !slice_present(now))
		return fault_set(f, MSG_TTL_ALREADY, "disabled");
	if (slice_present(now) && !slice_eq(now, attribute))
		return fault_set(f, MSG_TTL_OTHER, SLICE_FMT(now));
	return enable && slice_present(now) ? fault_set(f, MSG_TTL_ALREADY, "enabled") : ERR_OK;
}

/* The service puts the words in another order here. */
static enum err check_ttl_state(const struct store *s, const struct catalog_table *t, struct fault *f)
{
	if (table_serves(s, t))
		return ERR_OK;
	return fault_set(f, MSG_TTL_TABLE_BUSY, SLICE_FMT(t->table.name),
		table_state_now(s, t) == TABLE_CREATING ? "created" : "deleted");
}

/* Give a table the draft's time to live, or take it away: with it goes the index of who expires when. */
static enum err settle_ttl(struct write_txn *t, struct catalog_draft *d, struct slice attribute, struct fault *f)
{
	d->facts.ttl_attribute = attribute;
	d->facts.ttl_filling = slice_present(attribute);
	if (slice_present(attribute))
		return control_take_ids(t, 1, &d->facts.ttl_id, f);
	ttl_drop(t, d->facts.ttl_id);
	d->facts.ttl_id = 0;
	return ERR_OK;
}

static enum err update_ttl_apply(struct write_batch *b, struct store_write *w)
{
	const struct record *in = &w->req->in;
	struct slice name = control_table_name(record_str(in, UpdateTimeToLiveInput_TableName));
	const struct catalog_table *ct = table_state_find(b->store, b->catalog, name);
	struct record spec;
	struct table_edit e;
	unsigned n = 0;

	if (ct == NULL)
		return fault_set(&w->fault, MSG_TABLE_NOT_FOUND, SLICE_FMT(name));
	if (!record_open(&spec, &shape_TimeToLiveSpecification, in->m[UpdateTimeToLiveInput_TimeToLiveSpecification]))
		return fault_set(&w->fault, MSG_CATALOG_DAMAGED);
	struct slice attribute = record_str(&spec, TimeToLiveSpecification_AttributeName);
	bool enable = record_bool(&spec, TimeToLiveSpecification_Enabled);
	enum err rc = check_ttl_state(b->store, ct, &w->fault);

	if (rc == ERR_OK)
		rc = check_ttl(ct, attribute, enable, &w->fault);
	if (rc != ERR_OK)
		return rc;
	size_t at = record_begin(w->out);

	record_key(w->out, &n, UpdateTimeToLiveOutput_TimeToLiveSpecification);
	buf_put_slice(w->out, in->m[UpdateTimeToLiveInput_TimeToLiveSpecification]);
	record_end(w->out, at, n);
	if (w->out->failed)
		return fault_set(&w->fault, MSG_NO_MEMORY);
	rc = table_edit_begin(&e, b, w, ct);
	if (rc == ERR_OK)
		rc = settle_ttl(&e.txn, &e.draft, enable ? attribute : SLICE_NONE, &w->fault);
	return table_edit_end(&e, w, rc);
}

enum err update_ttl_prepare(struct store_reader *r, struct store_write *w)
{
	(void)r;
	w->plan->apply = update_ttl_apply;
	return ERR_OK;
}
