/* cancel - see cancel.h. */
#include "store/cancel.h"

#include "protocol/messages.h"

static const char *reason_name(enum err code)
{
	switch (code) {
	case ERR_OK:
		return "None";
	case ERR_CONDITION_FAILED:
		return "ConditionalCheckFailed";
	case ERR_DUPLICATE_ITEM:
		return "DuplicateItem";
	case ERR_RESOURCE_NOT_FOUND:
		return "ResourceNotFound";
	case ERR_ITEM_COLLECTION_SIZE:
		return "ItemCollectionSizeLimitExceeded";
	case ERR_THROUGHPUT_EXCEEDED:
		return "ProvisionedThroughputExceeded";
	case ERR_THROTTLING:
		return "ThrottlingError";
	default:
		return "ValidationError";
	}
}

bool cancel_is_reason(enum err code)
{
	return code == ERR_OK || code == ERR_CONDITION_FAILED || code == ERR_VALIDATION || code == ERR_ITEM_COLLECTION_SIZE
		|| code == ERR_THROUGHPUT_EXCEEDED || code == ERR_THROTTLING || code == ERR_DUPLICATE_ITEM;
}

static void put_reason(struct buf *b, const struct cancel_reason *r)
{
	unsigned n = 0;
	size_t at = record_begin(b);

	record_put_str(b, &n, CancellationReason_Code, slice_str(reason_name(r->code)));
	if (slice_present(r->item)) {
		record_key(b, &n, CancellationReason_Item);
		buf_put_slice(b, r->item);
	}
	if (r->code != ERR_OK && r->text != NULL)
		record_put_str(b, &n, CancellationReason_Message, slice_str(r->text));
	record_end(b, at, n);
}

enum err cancel_set(struct fault *f, const struct cancel_reason *r, unsigned n)
{
	struct buf detail, names;
	unsigned members = 0;

	buf_init(&detail);
	buf_init(&names);
	size_t at = record_begin(&detail);

	record_key(&detail, &members, TransactionCanceledException_CancellationReasons);
	mp_put_array(&detail, n);
	for (unsigned i = 0; i < n; i++) {
		put_reason(&detail, &r[i]);
		buf_printf(&names, "%s%s", i != 0 ? ", " : "", reason_name(r[i].code));
	}
	record_end(&detail, at, members);
	bool failed = detail.failed || names.failed;

	if (!failed) {
		fault_set(f, MSG_TRANSACTION_CANCELED, SLICE_FMT(buf_slice(&names)));
		f->detail = arena_copy(f->arena, buf_slice(&detail));
		failed = !slice_present(f->detail);
	}
	buf_release(&detail);
	buf_release(&names);
	return failed ? fault_set(f, MSG_NO_MEMORY) : ERR_TRANSACTION_CANCELED;
}
