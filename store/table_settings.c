/* table_settings - UpdateTimeToLive, TagResource and UntagResource: what hangs on a table and is not its shape. */
#include "protocol/messages.h"
#include "store/table_edit.h"
#include "store/table_state.h"
#include "store/ttl.h"

enum { TAGS_MAX = 50 };

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

/* Put the draft in the place of the table. */
static enum err empty_answer(struct store_write *w)
{
	mp_put_map(w->out, 0);
	return w->out->failed ? fault_set(&w->fault, MSG_NO_MEMORY) : ERR_OK;
}

/* ---- time to live ---- */

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

/* ---- tags ---- */

/* A table has no tags to be seen while it is CREATING, nor from its DELETING on. */
static const struct catalog_table *find_resource(struct write_batch *b, struct slice arn)
{
	const struct catalog_table *ct = catalog_find(b->catalog, control_table_name(arn));

	return ct != NULL && table_serves(b->store, ct) ? ct : NULL;
}

static struct slice tag_key(struct slice tag)
{
	struct record t;

	return record_open(&t, &shape_Tag, tag) ? record_str(&t, Tag_Key) : SLICE_NONE;
}

/* Is the key one of a list's: of tags, or of bare keys? */
static bool listed(struct slice list, bool bare, struct slice key)
{
	struct mp m = mp_open(list);

	for (uint32_t n = mp_array(&m); n > 0; n--) {
		struct slice k = bare ? mp_str(&m) : tag_key(mp_skip(&m));

		if (slice_present(k) && slice_eq(k, key))
			return true;
	}
	return false;
}

/* The tags of `old` whose keys are not among `less`, then those of `more` (absent = none). */
static enum err merge_tags(struct slice old, struct slice less, bool bare, struct slice more, struct buf *out, uint32_t *n)
{
	size_t at = list_begin(out);

	*n = 0;
	if (slice_present(old)) {
		struct mp m = mp_open(old);

		for (uint32_t k = mp_array(&m); k > 0; k--) {
			struct slice tag = mp_skip(&m);

			if (listed(less, bare, tag_key(tag)))
				continue;
			buf_put_slice(out, tag);
			++*n;
		}
	}
	if (slice_present(more)) {
		struct mp m = mp_open(more);

		for (uint32_t k = mp_array(&m); k > 0; k--, ++*n)
			buf_put_slice(out, mp_skip(&m));
	}
	list_end(out, at, *n);
	return out->failed ? ERR_NO_MEMORY : ERR_OK;
}

static enum err change_tags(struct write_batch *b, struct store_write *w, struct slice arn, struct slice less, bool bare,
	struct slice more)
{
	const struct catalog_table *ct = find_resource(b, arn);
	struct table_edit e;
	struct buf tags;
	uint32_t n;

	if (ct == NULL)
		return bare ? fault_set(&w->fault, MSG_TABLE_UNKNOWN) : fault_set(&w->fault, MSG_RESOURCE_UNKNOWN, SLICE_FMT(arn));
	enum err rc = table_edit_begin(&e, b, w, ct);

	buf_init(&tags);
	if (rc == ERR_OK && merge_tags(ct->spec.m[CreateTableInput_Tags], less, bare, more, &tags, &n) != ERR_OK)
		rc = fault_set(&w->fault, MSG_NO_MEMORY);
	if (rc == ERR_OK && n > TAGS_MAX)
		rc = fault_set(&w->fault, MSG_TAGS_MANY);
	if (rc == ERR_OK) {
		e.spec.m[CreateTableInput_Tags] = n != 0 ? buf_slice(&tags) : SLICE_NONE;
		rc = empty_answer(w);
	}
	rc = table_edit_end(&e, w, rc);
	buf_release(&tags);
	return rc;
}

static enum err tag_resource_apply(struct write_batch *b, struct store_write *w)
{
	struct slice tags = w->req->in.m[TagResourceInput_Tags];

	return change_tags(b, w, record_str(&w->req->in, TagResourceInput_ResourceArn), tags, false, tags);
}

static enum err untag_resource_apply(struct write_batch *b, struct store_write *w)
{
	return change_tags(b, w, record_str(&w->req->in, UntagResourceInput_ResourceArn),
		w->req->in.m[UntagResourceInput_TagKeys], true, SLICE_NONE);
}

enum err table_arn_check(struct slice arn, struct fault *f)
{
	if (!slice_starts_with(arn, SLICE_LIT("arn:")))
		return fault_set(f, MSG_NOT_AN_ARN, SLICE_FMT(arn));
	if (!slice_starts_with(arn, SLICE_LIT("arn:aws:dynamodb:")) || control_table_name(arn).n == arn.n)
		return fault_set(f, MSG_RESOURCE_ARN, SLICE_FMT(arn));
	struct slice name = control_table_name(arn);

	if (memchr(name.p, '/', name.n) != NULL)
		return fault_set(f, MSG_ARN_OF_OTHER, SLICE_FMT(arn));
	return name.n < TABLE_NAME_MIN ? fault_set(f, MSG_RESOURCE_ARN, SLICE_FMT(arn)) : ERR_OK;
}

/* Letters of any script, digits, spaces, and a few signs. */
static bool tag_text_ok(struct slice s)
{
	for (size_t i = 0; i < s.n; i++) {
		uint8_t c = s.p[i];
		bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c >= 0x80;

		if (!letter && (c == 0 || strchr(" +-=._:/@", c) == NULL))
			return false;
	}
	return true;
}

static enum err check_tag(struct slice bytes, struct slice *key, struct fault *f)
{
	struct record t;

	if (!record_open(&t, &shape_Tag, bytes))
		return fault_set(f, MSG_TAGS_NONE);
	struct slice value = record_str(&t, Tag_Value);

	*key = record_str(&t, Tag_Key);
	if (!tag_text_ok(*key))
		return fault_set(f, MSG_TAG_KEY, SLICE_FMT(*key));
	return tag_text_ok(value) ? ERR_OK : fault_set(f, MSG_TAG_VALUE, SLICE_FMT(value));
}

enum err table_tags_check(struct slice tags, struct fault *f)
{
	struct mp m = mp_open(tags);
	uint32_t n = mp_array(&m);

	if (n > TAGS_MAX)
		return fault_set(f, MSG_TAGS_MANY);
	for (; n > 0; n--) {
		struct slice key;
		enum err rc = check_tag(mp_skip(&m), &key, f);
		struct mp rest = m;

		if (rc != ERR_OK)
			return rc;
		if (slice_starts_with(key, SLICE_LIT("aws:")))
			return fault_set(f, MSG_TAG_PREFIX, SLICE_FMT(key));
		for (uint32_t k = n - 1; k > 0; k--)
			if (slice_eq(tag_key(mp_skip(&rest)), key))
				return fault_set(f, MSG_TAG_TWICE, SLICE_FMT(key));
	}
	return ERR_OK;
}

enum err tag_resource_prepare(struct store_reader *r, struct store_write *w)
{
	enum err rc = table_arn_check(record_str(&w->req->in, TagResourceInput_ResourceArn), &w->fault);

	uint32_t n;

	(void)r;
	record_list(&w->req->in, TagResourceInput_Tags, &n);
	w->plan->apply = tag_resource_apply;
	if (rc == ERR_OK && n == 0)
		return fault_set(&w->fault, MSG_TAGS_NONE);
	return rc == ERR_OK ? table_tags_check(w->req->in.m[TagResourceInput_Tags], &w->fault) : rc;
}

enum err untag_resource_prepare(struct store_reader *r, struct store_write *w)
{
	enum err rc = table_arn_check(record_str(&w->req->in, UntagResourceInput_ResourceArn), &w->fault);
	uint32_t n;

	(void)r;
	record_list(&w->req->in, UntagResourceInput_TagKeys, &n);
	w->plan->apply = untag_resource_apply;
	return rc == ERR_OK && n == 0 ? fault_set(&w->fault, MSG_TAG_KEYS_NONE) : rc;
}
