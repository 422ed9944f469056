/* held - see held.h. */
#include "store/held.h"

#include <stdlib.h>

enum { SLOTS_LEAST = 64 };

/* Zero stands for a free slot; its place is taken by 1. */
static uint64_t stored(uint64_t number)
{
	return number != 0 ? number : 1;
}

/* Where it is, or would be. */
static uint64_t *find(const struct held *h, uint64_t v)
{
	uint32_t i = (uint32_t)(v * 0x9E3779B97F4A7C15u >> 32) & (h->slots - 1);

	while (h->slot[i] != 0 && h->slot[i] != v)
		i = (i + 1) & (h->slots - 1);
	return &h->slot[i];
}

static bool grow(struct held *h)
{
	struct held next = { .slots = h->slots != 0 ? 2 * h->slots : SLOTS_LEAST, .n = h->n };

	next.slot = calloc(next.slots, sizeof *next.slot);
	if (next.slot == NULL)
		return false;
	for (uint32_t i = 0; i < h->slots; i++)
		if (h->slot[i] != 0)
			*find(&next, h->slot[i]) = h->slot[i];
	free(h->slot);
	*h = next;
	return true;
}

bool held_has(const struct held *h, uint64_t number)
{
	return h->n != 0 && *find(h, stored(number)) != 0;
}

bool held_add(struct held *h, uint64_t number)
{
	if (h->n == HELD_MAX || (2 * h->n >= h->slots && !grow(h)))
		return false;
	uint64_t *slot = find(h, stored(number));

	h->n += *slot == 0;
	*slot = stored(number);
	return true;
}

void held_release(struct held *h)
{
	free(h->slot);
	*h = (struct held){ .n = 0 };
}
