/* check_key - are the keys of a request, and of an item, what the table's schema asks for?
 *
 * The service words the same mistake differently for a Key (of GetItem, DeleteItem, UpdateItem and batches) and for
 * the keys inside an Item; both live here. Source: the texts are DynamoDB's. */
#include "store/check_key.h"

#include "protocol/messages.h"

enum { HASH_KEY_MAX = 2048, RANGE_KEY_MAX = 1024 };

enum err check_key_value(const struct key_attr *a, struct slice v, bool hash, struct fault *f)
{
	if (a->type == VALUE_N)
		return ERR_OK;
	struct slice bytes = value_bytes(v);

	if (bytes.n == 0)
		return fault_set(f, MSG_KEY_EMPTY, a->type == VALUE_S ? "string" : "binary", SLICE_FMT(a->name));
	if (hash && bytes.n > HASH_KEY_MAX)
		return fault_set(f, MSG_HASH_KEY_SIZE);
	if (!hash && bytes.n > RANGE_KEY_MAX)
		return fault_set(f, MSG_RANGE_KEY_SIZE);
	return ERR_OK;
}

static enum err check_part(const struct key_attr *a, struct slice key, bool hash, struct slice *v, struct fault *f)
{
	*v = map_get(key, a->name);
	if (!slice_present(*v) || value_type(*v) != a->type)
		return fault_set(f, MSG_KEY_SCHEMA);
	return check_key_value(a, *v, hash, f);
}

enum err store_check_key(const struct table *t, struct slice key, uint64_t *hash, struct fault *f)
{
	struct slice v;

	if (value_count(key) != t->key.hashes + t->key.ranges)
		return fault_set(f, MSG_KEY_SCHEMA);
	enum err rc = check_part(&t->key.hash[0], key, true, &v, f);

	if (rc != ERR_OK)
		return rc;
	*hash = store_hash(&v, 1);
	return t->key.ranges != 0 ? check_part(&t->key.range[0], key, false, &v, f) : ERR_OK;
}

enum err check_put_item(struct slice item, struct fault *f)
{
	if (item_size(item) > ITEM_SIZE_MAX)
		return fault_set(f, MSG_ITEM_SIZE);
	return slice_present(map_get(item, SLICE_LIT(""))) ? fault_set(f, MSG_ATTRIBUTE_NAME_EMPTY) : ERR_OK;
}

static enum err check_item_part(const struct key_attr *a, struct slice item, bool hash, struct slice *v, struct fault *f)
{
	*v = map_get(item, a->name);
	if (!slice_present(*v))
		return fault_set(f, MSG_KEY_MISSING, SLICE_FMT(a->name));
	if (value_type(*v) != a->type)
		return fault_set(f, MSG_KEY_TYPE, SLICE_FMT(a->name), value_type_name(a->type), value_type_name(value_type(*v)));
	return check_key_value(a, *v, hash, f);
}

enum err check_item_key(const struct table *t, struct slice item, uint64_t *hash, struct fault *f)
{
	struct slice v;
	enum err rc = check_item_part(&t->key.hash[0], item, true, &v, f);

	if (rc != ERR_OK)
		return rc;
	*hash = store_hash(&v, 1);
	return t->key.ranges != 0 ? check_item_part(&t->key.range[0], item, false, &v, f) : ERR_OK;
}

/* ---- keys of indexes ---- */

static enum err check_index_attr(const struct table_index *x, const struct key_attr *a, bool hash, struct slice item,
	struct fault *f)
{
	struct slice v = map_get(item, a->name);

	if (!slice_present(v))
		return ERR_OK; /* such an item is not in the index */
	if (value_type(v) != a->type)
		return fault_set(f, MSG_INDEX_KEY_TYPE, SLICE_FMT(a->name), value_type_name(a->type),
			value_type_name(value_type(v)), SLICE_FMT(x->name));
	if (a->type == VALUE_N)
		return ERR_OK;
	size_t n = value_bytes(v).n;

	if (n == 0)
		return fault_set(f, MSG_INDEX_KEY_EMPTY, a->type == VALUE_S ? "string" : "binary", SLICE_FMT(x->name),
			SLICE_FMT(a->name));
	if (n > (hash ? HASH_KEY_MAX : RANGE_KEY_MAX))
		return hash ? fault_set(f, MSG_HASH_KEY_SIZE) : fault_set(f, MSG_RANGE_KEY_SIZE);
	return ERR_OK;
}

enum err check_index_keys(const struct table *t, struct slice item, struct fault *f)
{
	enum err rc = ERR_OK;

	for (unsigned i = 0; i < t->gsis + t->lsis; i++) {
		const struct table_index *x = &t->index[i];

		for (unsigned k = 0; k < x->key.hashes && rc == ERR_OK; k++)
			rc = check_index_attr(x, &x->key.hash[k], true, item, f);
		for (unsigned k = 0; k < x->key.ranges && rc == ERR_OK; k++)
			rc = check_index_attr(x, &x->key.range[k], false, item, f);
		if (rc != ERR_OK)
			return rc;
	}
	return ERR_OK;
}

/* Did the update give this attribute a value that the index cannot take? What it left as it was may be older than the
 * index. */
static enum err check_updated_attr(const struct table_index *x, const struct key_attr *a, bool hash, struct slice old,
	struct slice item, bool expression, struct fault *f)
{
	struct slice v = map_get(item, a->name);

	if (!slice_present(v) || (slice_present(old) && slice_eq(v, map_get(old, a->name))))
		return ERR_OK;
	if (expression && a->type != VALUE_N && value_type(v) == a->type && value_bytes(v).n == 0)
		return fault_set(f, MSG_UPDATE_INDEX_KEY_VALUE);
	return check_index_attr(x, a, hash, item, f);
}

enum err check_updated_index_keys(const struct table *t, struct slice old, struct slice item, bool expression, struct fault *f)
{
	enum err rc = ERR_OK;

	for (unsigned i = 0; i < t->gsis + t->lsis && rc == ERR_OK; i++) {
		const struct table_index *x = &t->index[i];

		for (unsigned k = 0; k < x->key.hashes && rc == ERR_OK; k++)
			rc = check_updated_attr(x, &x->key.hash[k], true, old, item, expression, f);
		for (unsigned k = 0; k < x->key.ranges && rc == ERR_OK; k++)
			rc = check_updated_attr(x, &x->key.range[k], false, old, item, expression, f);
	}
	return rc;
}

bool check_index_takes(const struct table_index *x, struct slice item)
{
	enum err rc = ERR_OK;

	for (unsigned k = 0; k < x->key.hashes && rc == ERR_OK; k++)
		rc = check_index_attr(x, &x->key.hash[k], true, item, NULL);
	for (unsigned k = 0; k < x->key.ranges && rc == ERR_OK; k++)
		rc = check_index_attr(x, &x->key.range[k], false, item, NULL);
	return rc == ERR_OK;
}

struct slice check_key_of(const struct table *t, struct slice item, struct arena *a)
{
	struct map_builder m;
	struct buf b;
	struct slice key = SLICE_NONE;

	map_builder_init(&m, a);
	map_builder_add(&m, t->key.hash[0].name, map_get(item, t->key.hash[0].name));
	if (t->key.ranges != 0)
		map_builder_add(&m, t->key.range[0].name, map_get(item, t->key.range[0].name));
	buf_init(&b);
	if (map_put(&m, &b) && !b.failed)
		key = arena_copy(a, buf_slice(&b));
	buf_release(&b);
	return key;
}
