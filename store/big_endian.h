/* big_endian - numbers in the keys and rows of the engine, where their order as bytes is their order. Pure functions. */
#ifndef DYNAX_STORE_BIG_ENDIAN_H
#define DYNAX_STORE_BIG_ENDIAN_H

#include <stdint.h>

static inline void be_put(uint8_t *p, uint64_t v, unsigned bytes)
{
	for (; bytes > 0; v >>= 8)
		p[--bytes] = (uint8_t)v;
}

static inline uint64_t be_get(const uint8_t *p, unsigned bytes)
{
	uint64_t v = 0;

	for (unsigned i = 0; i < bytes; i++)
		v = v << 8 | p[i];
	return v;
}

#endif
