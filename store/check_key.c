/* check_key - are the keys of a request, and of an item, what the table's schema asks for?
 *
 * The service words the same mistake differently for a Key (of GetItem, DeleteItem, UpdateItem and batches) and for
 * the keys inside an Item; both live here. Source: the texts are DynamoDB's. */
#include "store/check_key.h"

#include <stdlib.h>

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
	return slice_present(map_get(item, SLICE_LIT(""))) ? fault_set(f, MSG_VALUE_NAME_EMPTY) : ERR_OK;
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

static size_t key_bytes(const struct key_attr *a, struct slice item)
{
	struct slice v = map_get(item, a->name);

	return slice_present(v) && value_type(v) != VALUE_N ? value_bytes(v).n : 0;
}

/* The limits are on all attributes of a kind together. */
static bool too_long(const struct key_attr *a, unsigned n, size_t max, struct slice item)
{
	size_t sum = 0;

	for (unsigned i = 0; i < n; i++)
		sum += key_bytes(&a[i], item);
	return sum > max;
}

static bool hash_too_long(const struct key_schema *ks, struct slice item)
{
	return too_long(ks->hash, ks->hashes, HASH_KEY_MAX, item);
}

static bool range_too_long(const struct key_schema *ks, struct slice item)
{
	return too_long(ks->range, ks->ranges, RANGE_KEY_MAX, item);
}

static const struct key_attr *key_attr_at(const struct key_schema *ks, unsigned i)
{
	return i < ks->hashes ? &ks->hash[i] : &ks->range[i - ks->hashes];
}

static bool is_empty(struct slice v)
{
	return value_type(v) != VALUE_N && value_bytes(v).n == 0;
}

bool check_index_holds(const struct key_schema *ks, struct slice item)
{
	for (unsigned i = 0; i < ks->hashes + ks->ranges; i++) {
		const struct key_attr *a = key_attr_at(ks, i);
		struct slice v = map_get(item, a->name);

		if (!slice_present(v) || value_type(v) != a->type || is_empty(v))
			return false;
	}
	return !hash_too_long(ks, item) && !range_too_long(ks, item);
}

static const char *type_word(const struct key_attr *a)
{
	return a->type == VALUE_S ? "string" : "binary";
}

static enum err check_index_type(const struct table_index *x, const struct key_attr *a, struct slice v, struct fault *f)
{
	if (value_type(v) == a->type)
		return ERR_OK;
	return fault_set(f, MSG_INDEX_KEY_TYPE, SLICE_FMT(a->name), value_type_name(a->type), value_type_name(value_type(v)),
		SLICE_FMT(x->name));
}

static enum err check_index_attr(const struct table_index *x, const struct key_attr *a, struct slice item, struct fault *f)
{
	struct slice v = map_get(item, a->name);

	if (!slice_present(v))
		return ERR_OK; /* such an item is not in the index */
	enum err rc = check_index_type(x, a, v, f);

	if (rc == ERR_OK && is_empty(v))
		rc = fault_set(f, MSG_INDEX_KEY_EMPTY, type_word(a), SLICE_FMT(x->name), SLICE_FMT(a->name));
	return rc;
}

static enum err check_index(const struct table_index *x, struct slice item, struct fault *f)
{
	enum err rc = ERR_OK;

	for (unsigned i = 0; i < x->key.hashes + x->key.ranges && rc == ERR_OK; i++)
		rc = check_index_attr(x, key_attr_at(&x->key, i), item, f);
	if (rc == ERR_OK && hash_too_long(&x->key, item))
		rc = fault_set(f, MSG_HASH_KEY_SIZE);
	if (rc == ERR_OK && range_too_long(&x->key, item))
		rc = fault_set(f, MSG_RANGE_KEY_SIZE);
	return rc;
}

enum err check_index_keys(const struct table *t, struct slice item, struct fault *f)
{
	enum err rc = ERR_OK;

	for (unsigned i = 0; i < t->gsis + t->lsis && rc == ERR_OK; i++)
		rc = check_index(&t->index[i], item, f);
	return rc;
}

enum err check_index_types(const struct table *t, struct slice item, struct fault *f)
{
	enum err rc = ERR_OK;

	for (unsigned i = 0; i < t->gsis + t->lsis; i++) {
		const struct table_index *x = &t->index[i];

		for (unsigned k = 0; k < x->key.hashes + x->key.ranges && rc == ERR_OK; k++) {
			const struct key_attr *a = key_attr_at(&x->key, k);
			struct slice v = map_get(item, a->name);

			rc = slice_present(v) ? check_index_type(x, a, v, f) : ERR_OK;
		}
	}
	return rc;
}

/* ---- empty values ---- */

static bool given_empty(const struct key_attr *a, struct slice v)
{
	return slice_present(v) && value_type(v) == a->type && is_empty(v);
}

static enum err check_index_filled(const struct table_index *x, struct slice item, const struct update *u, struct fault *f)
{
	for (unsigned i = 0; i < x->key.hashes + x->key.ranges; i++) {
		const struct key_attr *a = key_attr_at(&x->key, i);

		if (given_empty(a, map_get(item, a->name)))
			return fault_set(f, MSG_INDEX_KEY_EMPTY, type_word(a), SLICE_FMT(x->name), SLICE_FMT(a->name));
		if (u != NULL && given_empty(a, update_given(u, a->name)))
			return fault_set(f, MSG_UPDATE_INDEX_KEY_VALUE, type_word(a));
	}
	return ERR_OK;
}

enum err check_filled(const struct table *t, struct slice key, struct slice item, const struct update *u, struct fault *f)
{
	enum err rc = ERR_OK;

	for (unsigned i = 0; i < t->key.hashes + t->key.ranges; i++) {
		const struct key_attr *a = key_attr_at(&t->key, i);

		if (given_empty(a, map_get(key, a->name)))
			return fault_set(f, MSG_KEY_EMPTY, type_word(a), SLICE_FMT(a->name));
	}
	for (unsigned i = 0; i < t->gsis + t->lsis && rc == ERR_OK; i++)
		rc = check_index_filled(&t->index[i], item, u, f);
	return rc;
}

/* ---- updates ---- */

/* What the request itself gives is judged before the item is looked at. */
static enum err check_operand(const struct table_index *x, const struct key_attr *a, const struct update *u, struct fault *f)
{
	struct slice v = update_given(u, a->name);

	if (update_nests(u, a->name))
		return fault_set(f, MSG_EXPR_KEY_NESTED, "IndexKey", SLICE_FMT(a->name));
	if (!slice_present(v))
		return ERR_OK;
	enum err rc = check_index_type(x, a, v, f);

	return rc == ERR_OK && is_empty(v) ? fault_set(f, MSG_UPDATE_INDEX_KEY_VALUE, type_word(a)) : rc;
}

enum err check_update(const struct table *t, const struct update *u, struct fault *f)
{
	enum err rc = ERR_OK;

	if (u == NULL)
		return ERR_OK;
	for (unsigned i = 0; i < t->key.hashes + t->key.ranges; i++) {
		struct slice name = key_attr_at(&t->key, i)->name;

		if (update_touches(u, name))
			return fault_set(f, MSG_UPDATE_KEY, SLICE_FMT(name));
		if (update_nests(u, name))
			return fault_set(f, MSG_EXPR_KEY_NESTED, "Key", SLICE_FMT(name));
	}
	for (unsigned i = 0; i < t->gsis + t->lsis; i++) {
		const struct table_index *x = &t->index[i];

		for (unsigned k = 0; k < x->key.hashes + x->key.ranges && rc == ERR_OK; k++)
			rc = check_operand(x, key_attr_at(&x->key, k), u, f);
	}
	return rc;
}

/* Also what the update left alone: an item from before the index, unfit for it, takes no update until it is mended. */
static enum err check_updated_attr(const struct key_attr *a, struct slice item, struct fault *f)
{
	struct slice v = map_get(item, a->name);

	if (!slice_present(v))
		return ERR_OK;
	if (value_type(v) != a->type)
		return fault_set(f, MSG_UPDATE_INDEX_KEY_TYPE);
	return is_empty(v) ? fault_set(f, MSG_UPDATE_INDEX_KEY_VALUE, type_word(a)) : ERR_OK;
}

enum err check_updated_index_keys(const struct table *t, struct slice item, struct fault *f)
{
	for (unsigned i = 0; i < t->gsis + t->lsis; i++) {
		const struct key_schema *ks = &t->index[i].key;
		enum err rc = ERR_OK;

		for (unsigned k = 0; k < ks->hashes + ks->ranges && rc == ERR_OK; k++)
			rc = check_updated_attr(key_attr_at(ks, k), item, f);
		if (rc == ERR_OK && (hash_too_long(ks, item) || range_too_long(ks, item)))
			rc = fault_set(f, MSG_UPDATE_INDEX_KEY_SIZE);
		if (rc != ERR_OK)
			return rc;
	}
	return ERR_OK;
}

/* ---- filters and paths ---- */

static int compare_names(const void *a, const void *b)
{
	return slice_cmp(*(const struct slice *)a, *(const struct slice *)b);
}

/* Those that the index does not hold, in the order of the text; with out NULL, only how many. */
static uint32_t names_not_held(const struct table *t, const struct table_index *x, const struct condition *filter,
	struct slice *out)
{
	struct condition_at at = { 0, 0 };
	struct slice name;
	uint32_t n = 0;

	while (slice_present(name = condition_next_name(filter, &at)))
		if (!table_index_holds(t, x, name)) {
			if (out != NULL)
				out[n] = name;
			n++;
		}
	return n;
}

enum err store_check_filter(const struct table *t, const struct table_index *x, const struct condition *filter, struct arena *a,
	struct fault *f)
{
	uint32_t n = filter != NULL ? names_not_held(t, x, filter, NULL) : 0;
	struct slice *name = n != 0 ? arena_alloc(a, n * sizeof *name) : NULL;
	struct buf list;

	if (n == 0)
		return ERR_OK;
	if (name == NULL)
		return fault_set(f, MSG_NO_MEMORY);
	names_not_held(t, x, filter, name);
	qsort(name, n, sizeof *name, compare_names);
	buf_init(&list);
	for (uint32_t i = 0; i < n; i++)
		if (i == 0 || !slice_eq(name[i], name[i - 1]))
			buf_printf(&list, "%s%.*s", i == 0 ? "" : ", ", SLICE_FMT(name[i]));
	enum err rc = list.failed ? fault_set(f, MSG_NO_MEMORY) :
		fault_set(f, MSG_FILTER_NOT_HELD, SLICE_FMT(x->name), SLICE_FMT(buf_slice(&list)));

	buf_release(&list);
	return rc;
}

static enum err check_paths_of(const struct key_schema *ks, const struct projection *p, const struct condition *c,
	const char *what, struct fault *f)
{
	for (unsigned i = 0; i < ks->hashes + ks->ranges; i++) {
		struct slice name = key_attr_at(ks, i)->name;

		if ((p != NULL && projection_nests(p, name)) || (c != NULL && condition_nests(c, name)))
			return fault_set(f, MSG_EXPR_KEY_NESTED, what, SLICE_FMT(name));
	}
	return ERR_OK;
}

enum err store_check_paths(const struct table *t, const struct projection *p, const struct condition *c, struct fault *f)
{
	enum err rc = p != NULL || c != NULL ? check_paths_of(&t->key, p, c, "Key", f) : ERR_OK;

	for (unsigned i = 0; i < t->gsis + t->lsis && rc == ERR_OK && (p != NULL || c != NULL); i++)
		rc = check_paths_of(&t->index[i].key, p, c, "IndexKey", f);
	return rc;
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
