/* item - building items, lists and sets.
 *
 * Pairs are collected in the order in which they are set and put in order when the item is used (map_builder), so that
 * setting is cheap. The first mistake sticks: later setters do nothing, and the request that takes the item fails. */
#include "protocol/client/client_int.h"
#include "protocol/json.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static struct dynax_item *item_new(bool list)
{
	struct dynax_item *item = calloc(1, sizeof(*item));

	if (item == NULL)
		return NULL;
	arena_init(&item->mem.arena, 512);
	map_builder_init(&item->pairs, &item->mem.arena);
	item->list = list;
	return item;
}

struct dynax_item *dynax_item_new(void)
{
	return item_new(false);
}

struct dynax_item *dynax_list_new(void)
{
	return item_new(true);
}

struct dynax_item *dynax_item_of(const char *name, const char *value, ...)
{
	struct dynax_item *item = dynax_item_new();
	va_list ap;

	if (item == NULL)
		return NULL;
	va_start(ap, value);
	while (name != NULL) {
		dynax_item_set_str(item, name, value);
		name = va_arg(ap, const char *);
		value = name != NULL ? va_arg(ap, const char *) : NULL;
	}
	va_end(ap);
	return item;
}

void dynax_item_free(struct dynax_item **item)
{
	if (*item == NULL)
		return;
	arena_release(&(*item)->mem.arena);
	free(*item);
	*item = NULL;
}

void dynax_item_clear(struct dynax_item *item)
{
	arena_reset(&item->mem.arena);
	map_builder_init(&item->pairs, &item->mem.arena);
	item->mistake = NULL;
	item->encoded = SLICE_NONE;
}

const char *dynax_item_error(const struct dynax_item *item)
{
	if (item == NULL)
		return "an item that is NULL: never made, or out of memory when it was";
	return item->pairs.failed ? MSG_CLIENT_NO_MEMORY : item->mistake;
}

static void mistake(struct dynax_item *item, const char *what, const char *name)
{
	item->encoded = SLICE_NONE;
	if (item->mistake != NULL)
		return;
	if (name != NULL && !item->list)
		item->mistake = arena_printf(&item->mem.arena, "%s, at attribute '%s'", what, name);
	else
		item->mistake = what;
	if (item->mistake == NULL)
		item->mistake = MSG_CLIENT_NO_MEMORY;
}

/* Add a pair of encoded bytes, which are copied. */
static void add(struct dynax_item *item, const char *name, struct slice value)
{
	struct slice copy, key = SLICE_NONE;

	if (dynax_item_error(item) != NULL)
		return;
	if (name == NULL && !item->list) {
		mistake(item, "an attribute without a name", NULL);
		return;
	}
	copy = arena_copy(&item->mem.arena, value);
	if (!item->list)
		key = arena_copy(&item->mem.arena, slice_str(name));
	if (!slice_present(copy) || (!item->list && !slice_present(key)))
		item->pairs.failed = true;
	else
		map_builder_add(&item->pairs, key, copy);
	item->encoded = SLICE_NONE;
}

/* Add what is in b, and release it. */
static void add_buf(struct dynax_item *item, const char *name, struct buf *b)
{
	if (b->failed)
		item->pairs.failed = true;
	else
		add(item, name, buf_slice(b));
	buf_release(b);
}

static bool utf8_ok(struct slice s)
{
	struct buf b;
	bool ok;

	buf_init(&b);
	value_put_string(&b, s);
	ok = b.failed || value_check(buf_slice(&b));
	buf_release(&b);
	return ok;
}

void dynax_item_set_strn(struct dynax_item *item, const char *name, const char *text, size_t n)
{
	struct buf b;

	if (text == NULL) {
		mistake(item, "a string that is NULL", name);
		return;
	}
	if (!utf8_ok(slice_of(text, n))) {
		mistake(item, "a string that is not UTF-8", name);
		return;
	}
	buf_init(&b);
	value_put_string(&b, slice_of(text, n));
	add_buf(item, name, &b);
}

void dynax_item_set_str(struct dynax_item *item, const char *name, const char *text)
{
	dynax_item_set_strn(item, name, text, text != NULL ? strlen(text) : 0);
}

void dynax_item_set_int(struct dynax_item *item, const char *name, int64_t v)
{
	struct buf b;

	buf_init(&b);
	value_put_int(&b, v);
	add_buf(item, name, &b);
}

void dynax_item_set_double(struct dynax_item *item, const char *name, double v)
{
	char text[40];

	if (!isfinite(v)) {
		mistake(item, "a number that is not finite", name);
		return;
	}
	for (int digits = 15; digits <= 17; digits++) {
		snprintf(text, sizeof(text), "%.*g", digits, v);
		if (strtod(text, NULL) == v)
			break;
	}
	dynax_item_set_number(item, name, text);
}

static const char *number_of(struct number *x, const char *decimal)
{
	if (decimal == NULL)
		return "a number that is NULL";
	switch (number_parse(x, slice_str(decimal))) {
	case NUMBER_OK:
		return NULL;
	case NUMBER_OVERFLOW:
		return "a number of too great a magnitude";
	case NUMBER_UNDERFLOW:
		return "a number of too small a magnitude";
	case NUMBER_PRECISION:
		return "a number of more than 38 significant digits";
	case NUMBER_SYNTAX:
		break;
	}
	return "not a number";
}

void dynax_item_set_number(struct dynax_item *item, const char *name, const char *decimal)
{
	struct number x;
	const char *wrong = number_of(&x, decimal);
	struct buf b;

	if (wrong != NULL) {
		mistake(item, wrong, name);
		return;
	}
	buf_init(&b);
	value_put_number(&b, number_slice(&x));
	add_buf(item, name, &b);
}

void dynax_item_set_bin(struct dynax_item *item, const char *name, const void *p, size_t n)
{
	struct buf b;

	buf_init(&b);
	value_put_binary(&b, slice_of(p != NULL ? p : "", n));
	add_buf(item, name, &b);
}

void dynax_item_set_bool(struct dynax_item *item, const char *name, bool v)
{
	struct buf b;

	buf_init(&b);
	value_put_bool(&b, v);
	add_buf(item, name, &b);
}

void dynax_item_set_null(struct dynax_item *item, const char *name)
{
	struct buf b;

	buf_init(&b);
	value_put_null(&b);
	add_buf(item, name, &b);
}

void dynax_item_set_item(struct dynax_item *item, const char *name, const struct dynax_item *other)
{
	const char *wrong = dynax_item_error(other);
	struct buf b;

	if (wrong != NULL) {
		mistake(item, wrong, name);
		return;
	}
	buf_init(&b);
	if (!item_put(other, &b))
		b.failed = true;
	add_buf(item, name, &b);
}

void dynax_item_set_value(struct dynax_item *item, const char *name, struct dynax_value v)
{
	if (v.p == NULL)
		mistake(item, "a value that is absent", name);
	else
		add(item, name, value_slice(v));
}

/* The members are encoded already, in arena memory. */
static void add_set(struct dynax_item *item, const char *name, int8_t ext, struct slice *member, size_t n)
{
	struct buf b;

	if (n == 0) {
		mistake(item, "a set without members", name);
		return;
	}
	buf_init(&b);
	if (!set_put(&b, ext, member, (uint32_t)n) && !b.failed) {
		mistake(item, "a set with two equal members", name);
		buf_release(&b);
		return;
	}
	add_buf(item, name, &b);
}

/* Room for n members of a set, in the item's memory; NULL, and failed, if there is none. */
static struct slice *members(struct dynax_item *item, size_t n)
{
	struct slice *member = n <= UINT32_MAX / sizeof(*member) ? arena_alloc(&item->mem.arena, n * sizeof(*member) + 1) : NULL;

	if (member == NULL)
		item->pairs.failed = true;
	return member;
}

/* Encode one member onto b and keep a copy. */
static struct slice keep(struct dynax_item *item, struct buf *b)
{
	struct slice copy = b->failed ? SLICE_NONE : arena_copy(&item->mem.arena, buf_slice(b));

	if (!slice_present(copy))
		item->pairs.failed = true;
	buf_clear(b);
	return copy;
}

void dynax_item_set_str_set(struct dynax_item *item, const char *name, const char *const *text, size_t n)
{
	struct slice *member = members(item, n);
	struct buf b;

	buf_init(&b);
	for (size_t i = 0; i < n && dynax_item_error(item) == NULL; i++) {
		if (text[i] == NULL || !utf8_ok(slice_str(text[i])))
			mistake(item, "a string that is NULL or not UTF-8", name);
		else
			value_put_string(&b, slice_str(text[i]));
		member[i] = keep(item, &b);
	}
	buf_release(&b);
	if (dynax_item_error(item) == NULL)
		add_set(item, name, VALUE_EXT_SS, member, n);
}

void dynax_item_set_num_set(struct dynax_item *item, const char *name, const char *const *decimal, size_t n)
{
	struct slice *member = members(item, n);
	struct buf b;

	buf_init(&b);
	for (size_t i = 0; i < n && dynax_item_error(item) == NULL; i++) {
		struct number x;
		const char *wrong = number_of(&x, decimal[i]);

		if (wrong != NULL) {
			mistake(item, wrong, name);
			break;
		}
		value_put_number(&b, number_slice(&x));
		member[i] = keep(item, &b);
	}
	buf_release(&b);
	if (dynax_item_error(item) == NULL)
		add_set(item, name, VALUE_EXT_NS, member, n);
}

void dynax_item_set_bin_set(struct dynax_item *item, const char *name, const struct dynax_blob *blob, size_t n)
{
	struct slice *member = members(item, n);
	struct buf b;

	buf_init(&b);
	for (size_t i = 0; i < n && dynax_item_error(item) == NULL; i++) {
		value_put_binary(&b, slice_of(blob[i].p != NULL ? blob[i].p : "", blob[i].n));
		member[i] = keep(item, &b);
	}
	buf_release(&b);
	if (dynax_item_error(item) == NULL)
		add_set(item, name, VALUE_EXT_BS, member, n);
}

void dynax_item_unset(struct dynax_item *item, const char *name)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < item->pairs.n; i++)
		if (item->list || !slice_eq(item->pairs.pair[i].name, slice_str(name)))
			item->pairs.pair[kept++] = item->pairs.pair[i];
	item->pairs.n = kept;
	item->encoded = SLICE_NONE;
}

struct dynax_item *dynax_item_from_json(const char *json)
{
	struct dynax_item *item = dynax_item_new();
	struct json_reader *r = json_reader_new();
	struct fault f;
	struct buf b;

	if (item == NULL || r == NULL) {
		dynax_item_free(&item);
		json_reader_free(&r);
		return NULL;
	}
	buf_init(&b);
	fault_init(&f, &item->mem.arena);
	if (json_read(r, &shape_AttributeMap, slice_str(json), &item->mem.arena, &b, &f) != ERR_OK) {
		item->mistake = json_mistake(&f);
	} else {
		uint32_t n;
		struct mp m = value_pairs(buf_slice(&b), &n);

		for (; n > 0; n--) {
			struct slice name = arena_copy(&item->mem.arena, mp_str(&m));

			add(item, (const char *)name.p, mp_skip(&m));
		}
	}
	buf_release(&b);
	json_reader_free(&r);
	return item;
}

bool item_put(const struct dynax_item *item, struct buf *out)
{
	struct map_builder copy;
	struct arena scratch;
	bool ok;

	if (dynax_item_error(item) != NULL)
		return false;
	if (item->list) {
		mp_put_array(out, item->pairs.n);
		for (uint32_t i = 0; i < item->pairs.n; i++)
			buf_put_slice(out, item->pairs.pair[i].value);
		return !out->failed;
	}
	/* map_put sorts; a request may be run by several threads, so what it sorts is a copy. */
	arena_init(&scratch, 1024);
	map_builder_init(&copy, &scratch);
	for (uint32_t i = 0; i < item->pairs.n; i++)
		map_builder_add(&copy, item->pairs.pair[i].name, item->pairs.pair[i].value);
	ok = map_put(&copy, out) && !out->failed;
	arena_release(&scratch);
	return ok;
}

struct dynax_value dynax_item_value(struct dynax_item *item)
{
	struct buf b;

	if (slice_present(item->encoded))
		return value_from(item->encoded, &item->mem);
	buf_init(&b);
	if (item_put(item, &b))
		item->encoded = arena_copy(&item->mem.arena, buf_slice(&b));
	buf_release(&b);
	return value_from(item->encoded, &item->mem);
}
