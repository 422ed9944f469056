/* err - the one vocabulary of failure, and `fault`, which carries the words for the client.
 *
 * What can fail returns `enum err`; ERR_OK is 0. "Not found", "need more input" and "condition is false"
 * are results, not errors, and have types of their own. The texts are in messages.h. */
#ifndef DYNAX_PROTOCOL_ERR_H
#define DYNAX_PROTOCOL_ERR_H

#include "protocol/arena.h"
#include "protocol/slice.h"

/* X(symbol, type on the wire, namespace, HTTP status, retryable). The number of an error, its place in this
 * list, is its code on the msgpack wire: append only.
 * Sources: "Error handling with DynamoDB" in the developer guide, and the API's exception shapes. */
#define ERR_TABLE(X) \
	X(VALIDATION, "ValidationException", CORAL_AMAZON, 400, false) \
	X(SERIALIZATION, "SerializationException", CORAL, 400, false) \
	X(UNKNOWN_OPERATION, "UnknownOperationException", CORAL, 400, false) \
	X(CONDITION_FAILED, "ConditionalCheckFailedException", DYNAMODB, 400, false) \
	X(RESOURCE_NOT_FOUND, "ResourceNotFoundException", DYNAMODB, 400, false) \
	X(RESOURCE_IN_USE, "ResourceInUseException", DYNAMODB, 400, false) \
	X(LIMIT_EXCEEDED, "LimitExceededException", DYNAMODB, 400, true) \
	X(THROUGHPUT_EXCEEDED, "ProvisionedThroughputExceededException", DYNAMODB, 400, true) \
	X(THROTTLING, "ThrottlingException", CORAL_AVAILABILITY, 400, true) \
	X(REQUEST_LIMIT_EXCEEDED, "RequestLimitExceeded", DYNAMODB, 400, true) \
	X(ITEM_COLLECTION_SIZE, "ItemCollectionSizeLimitExceededException", DYNAMODB, 400, false) \
	X(TRANSACTION_CANCELED, "TransactionCanceledException", DYNAMODB, 400, false) \
	X(TRANSACTION_CONFLICT, "TransactionConflictException", DYNAMODB, 400, true) \
	X(TRANSACTION_IN_PROGRESS, "TransactionInProgressException", DYNAMODB, 400, true) \
	X(IDEMPOTENT_MISMATCH, "IdempotentParameterMismatchException", DYNAMODB, 400, false) \
	X(DUPLICATE_ITEM, "DuplicateItemException", DYNAMODB, 400, false) \
	X(EXPIRED_ITERATOR, "ExpiredIteratorException", DYNAMODB, 400, false) \
	X(TRIMMED_DATA, "TrimmedDataAccessException", DYNAMODB, 400, false) \
	X(TABLE_NOT_FOUND, "TableNotFoundException", DYNAMODB, 400, false) \
	X(INTERNAL, "InternalServerError", DYNAMODB, 500, true) \
	X(UNAVAILABLE, "ServiceUnavailable", CORAL_AVAILABILITY, 503, true) \
	X(MISSING_TOKEN, "MissingAuthenticationTokenException", CORAL, 400, false) \
	X(ACCESS_DENIED, "AccessDeniedException", CORAL, 400, false) \
	X(REQUEST_TOO_LARGE, "RequestEntityTooLarge", CORAL, 413, false) \
	X(DEADLINE, "RequestTimeout", DYNAX, 504, true) \
	X(FRAME, "FrameException", DYNAX, 400, false) \
	X(NO_MEMORY, "InternalServerError", DYNAMODB, 500, true) \
	X(DISK_FULL, "InternalServerError", DYNAMODB, 500, true) \
	X(MAP_FULL, "InternalServerError", DYNAMODB, 500, true) \
	X(IO, "InternalServerError", DYNAMODB, 500, true) \
	X(CORRUPT, "InternalServerError", DYNAMODB, 500, false) \
	X(BUSY, "InternalServerError", DYNAMODB, 500, true) \
	X(USAGE, "UsageError", DYNAX, 400, false) \
	X(NETWORK, "NetworkError", DYNAX, 500, true) \
	X(OBJECT_NOT_FOUND, "ObjectNotFoundException", CORAL, 400, false)

enum err {
	ERR_OK,
#define X(sym, type, ns, http, retry) ERR_##sym,
	ERR_TABLE(X)
#undef X
	ERR_COUNT
};

/* What DynamoDB writes before the "#" of __type. */
#define ERR_NS_DYNAMODB "com.amazonaws.dynamodb.v20120810"
#define ERR_NS_CORAL "com.amazon.coral.service"
#define ERR_NS_CORAL_AMAZON "com.amazon.coral.validate"
#define ERR_NS_CORAL_AVAILABILITY "com.amazon.coral.availability"
#define ERR_NS_DYNAX "dynax"

const char *err_type(enum err e);      /* "ValidationException"; "OK" for ERR_OK */
const char *err_full_type(enum err e); /* "com.amazon.coral.validate#ValidationException" and the like */
int err_http_status(enum err e);
bool err_retryable(enum err e);

/* The words that go with an error. Zero is a good start if `arena` is set. */
struct fault {
	enum err code;
	const char *text;      /* NUL-terminated; in `arena`, or static */
	struct arena *arena;   /* where texts are made; may be NULL: then only a static text is kept */
	struct slice detail;   /* further members of the error's shape, as a record (shape.h), or absent:
	                        * Item of ConditionalCheckFailedException, CancellationReasons, ... */
};

static inline void fault_init(struct fault *f, struct arena *a)
{
	*f = (struct fault){ .arena = a };
}

/* Record `code` and its text and return `code`, so that `return fault_set(f, MSG_X, arg);` reads well.
 * The MSG_ macros of messages.h give code and format together. f may be NULL. Forgets an earlier `detail`.
 * Without an arena, or out of memory, a text that needs formatting is replaced by the error's type. */
enum err fault_set(struct fault *f, enum err code, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

#endif
