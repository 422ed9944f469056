/* fuzz_stream_text - what clients send back to us of streams: ARNs, iterators, shards, sequence numbers. Nothing is trusted, and
 * what is accepted is written again as it was. */
#include <stdlib.h>

#include "store/streams.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct slice text = slice_of(data, size), table, label;
	struct shard_iterator it, again;
	struct arena a;
	uint64_t position, twice;
	uint32_t id;

	arena_init(&a, 0);
	if (stream_arn_parse(text, &table, &label) && (table.n == 0 || label.n == 0 || table.n + label.n > size))
		abort();
	if (sequence_parse(text, &position) && position != 0 && position != UINT64_MAX) {
		char number[SEQUENCE_TEXT];

		sequence_format(position, number);
		if (!sequence_parse(slice_str(number), &twice) || twice != position)
			abort();
	}
	if (shard_id_parse(text, &id)) {
		char written[SHARD_ID_TEXT];

		shard_id_format(id, 0, written);
		if (memcmp(written + strlen(written) - 8, text.p + text.n - 8, 8) != 0)
			abort();
	}
	if (shard_iterator_parse(text, &a, &it)) {
		char *written = shard_iterator_format(&it, &a);

		if (written == NULL || !shard_iterator_parse(slice_str(written), &a, &again) || again.position != it.position)
			abort();
	}
	arena_release(&a);
	return 0;
}
