/* tags - see tags.h. Tags are a member of the CreateTableInput that the catalog keeps. */
#include "store/tags.h"

#include "protocol/messages.h"
#include "store/table_edit.h"
#include "store/table_state.h"

enum { TAGS_MAX = 50 };

static enum err empty_answer(struct store_write *w)
{
	mp_put_map(w->out, 0);
	return w->out->failed ? fault_set(&w->fault, MSG_NO_MEMORY) : ERR_OK;
}

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

enum err tags_check(struct slice tags, struct fault *f)
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
	enum err rc = control_arn_check(record_str(&w->req->in, TagResourceInput_ResourceArn), &w->fault);

	uint32_t n;

	(void)r;
	record_list(&w->req->in, TagResourceInput_Tags, &n);
	w->plan->apply = tag_resource_apply;
	if (rc == ERR_OK && n == 0)
		return fault_set(&w->fault, MSG_TAGS_NONE);
	return rc == ERR_OK ? tags_check(w->req->in.m[TagResourceInput_Tags], &w->fault) : rc;
}

enum err untag_resource_prepare(struct store_reader *r, struct store_write *w)
{
	enum err rc = control_arn_check(record_str(&w->req->in, UntagResourceInput_ResourceArn), &w->fault);
	uint32_t n;

	(void)r;
	record_list(&w->req->in, UntagResourceInput_TagKeys, &n);
	w->plan->apply = untag_resource_apply;
	return rc == ERR_OK && n == 0 ? fault_set(&w->fault, MSG_TAG_KEYS_NONE) : rc;
}
