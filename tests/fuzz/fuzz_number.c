/* Two numbers as text, apart by a line end: canonical, in order, and what is added can be taken away. */
#include <stdlib.h>

#include "protocol/number.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool read(struct number *x, struct slice text)
{
	char out[NUMBER_TEXT];
	struct number again;

	if (number_parse(x, text) != NUMBER_OK)
		return false;
	if (!number_valid(number_slice(x)))
		abort();
	if (number_parse(&again, slice_of(out, number_format(number_slice(x), out))) != NUMBER_OK ||
	    !slice_eq(number_slice(x), number_slice(&again)))
		abort();
	return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *end = size != 0 ? memchr(data, '\n', size) : NULL;
	struct number a, b, sum, back;
	int64_t v;

	number_valid(slice_of(data, size));
	if (end == NULL || !read(&a, slice_of(data, (size_t)(end - data))) ||
	    !read(&b, slice_of(end + 1, size - (size_t)(end - data) - 1)))
		return 0;
	if (number_to_int(number_slice(&a), &v)) {
		number_from_int(&back, v);
		if (!slice_eq(number_slice(&a), number_slice(&back)))
			abort();
	}
	if (number_add(&sum, number_slice(&a), number_slice(&b)) != NUMBER_OK)
		return 0;
	if (!number_valid(number_slice(&sum)) || number_sub(&back, number_slice(&sum), number_slice(&b)) != NUMBER_OK ||
	    !slice_eq(number_slice(&back), number_slice(&a)))
		abort();
	return 0;
}
