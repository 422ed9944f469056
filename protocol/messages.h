/* messages - every text that a client may see, in one place.
 *
 * Each macro gives an error code and a printf format: `return fault_set(f, MSG_TABLE_NOT_FOUND, SLICE_FMT(name))`,
 * so the compiler still checks the arguments. The words are the service's own wire texts: programs match them.
 * Keep the sections, each module adds to its own. */
#ifndef DYNAX_PROTOCOL_MESSAGES_H
#define DYNAX_PROTOCOL_MESSAGES_H

#include "protocol/err.h"

/* ---- requests: shape, constraints, HTTP ---- */
/* What cannot be read at all. The service gives no text for broken JSON. */
#define MSG_JSON_BROKEN ERR_SERIALIZATION, "%s", ""
#define MSG_JSON_CONVERT ERR_SERIALIZATION, "%s cannot be converted to %s"
#define MSG_JSON_TOKEN ERR_SERIALIZATION, "Unexpected token received from parser"
#define MSG_JSON_STRUCT ERR_SERIALIZATION, "Start of structure or map found where not expected"
#define MSG_JSON_COLLECTION ERR_SERIALIZATION, "Unrecognized collection type %s"
#define MSG_JSON_FIELD ERR_SERIALIZATION, "Unexpected field type"
#define MSG_JSON_PAYLOAD ERR_SERIALIZATION, "Unexpected value type in payload"
#define MSG_JSON_PARAMETERIZED ERR_SERIALIZATION, \
	"class sun.reflect.generics.reflectiveObjects.ParameterizedTypeImpl cannot be cast to class java.lang.Class " \
	"(sun.reflect.generics.reflectiveObjects.ParameterizedTypeImpl and java.lang.Class are in module java.base of " \
	"loader 'bootstrap')"
#define MSG_BASE64_KIND ERR_SERIALIZATION, "only base-64-encoded strings are convertible to bytes"
#define MSG_BASE64_LENGTH ERR_SERIALIZATION, "Base64 encoded length is expected a multiple of 4 bytes but found: %zu"
#define MSG_BASE64_CHAR ERR_SERIALIZATION, "Invalid Base64 character"
#define MSG_BASE64_LAST ERR_SERIALIZATION, "Invalid last non-pad Base64 character dectected"
#define MSG_RECORD_BAD ERR_SERIALIZATION, "The request is not a canonical record of its operation: %s"
/* Attribute values that can be read but not stored. */
#define MSG_VALUE_EMPTY ERR_VALIDATION, \
	"Supplied AttributeValue is empty, must contain exactly one of the supported datatypes"
#define MSG_VALUE_MULTIPLE ERR_VALIDATION, \
	"Supplied AttributeValue has more than one datatypes set, must contain exactly one of the supported datatypes"
#define MSG_VALUE_NULL_FALSE ERR_VALIDATION, \
	"One or more parameter values were invalid: Null attribute value types must have the value of true"
#define MSG_VALUE_EMPTY_SS ERR_VALIDATION, "One or more parameter values were invalid: An string set  may not be empty"
#define MSG_VALUE_EMPTY_NS ERR_VALIDATION, "One or more parameter values were invalid: An number set  may not be empty"
#define MSG_VALUE_EMPTY_BS ERR_VALIDATION, "One or more parameter values were invalid: Binary sets should not be empty"
#define MSG_VALUE_DUPLICATE_SS ERR_VALIDATION, \
	"One or more parameter values were invalid: Input collection [%.*s] contains duplicates."
#define MSG_VALUE_DUPLICATE_NS ERR_VALIDATION, "Input collection contains duplicates"
#define MSG_VALUE_DUPLICATE_BS ERR_VALIDATION, \
	"One or more parameter values were invalid: Input collection [%.*s]of type BS contains duplicates."
#define MSG_VALUE_NESTING ERR_VALIDATION, \
	"Nesting Levels have exceeded supported limits: Attributes in the item have nested levels beyond supported limit"
#define MSG_NUMBER_EMPTY ERR_VALIDATION, "The parameter cannot be converted to a numeric value"
#define MSG_NUMBER_SYNTAX ERR_VALIDATION, "The parameter cannot be converted to a numeric value: %.*s"
#define MSG_NUMBER_OVERFLOW ERR_VALIDATION, \
	"Number overflow. Attempting to store a number with magnitude larger than supported range"
#define MSG_NUMBER_UNDERFLOW ERR_VALIDATION, \
	"Number underflow. Attempting to store a number with magnitude smaller than supported range"
#define MSG_NUMBER_PRECISION ERR_VALIDATION, "Attempting to store more than 38 significant digits in a Number"
/* Such a value in the words of its place. */
#define MSG_VALUE_IN_EXPRESSION ERR_VALIDATION, "ExpressionAttributeValues contains invalid value: %s for key %.*s"
#define MSG_VALUE_IN_START_KEY ERR_VALIDATION, "The provided starting key is invalid: %s"
/* Constraints. */
#define MSG_CONSTRAINTS ERR_VALIDATION, "%u validation error%s detected: %.*s"
#define MSG_PARAMETER_REQUIRED ERR_VALIDATION, \
	"The parameter '%s' is required but was not present in the request"
#define MSG_REQUEST_ITEMS_REQUIRED ERR_VALIDATION, "The requestItems parameter is required for %s"

#define MSG_DEADLINE ERR_DEADLINE, "The request's deadline had passed before it was carried out"
#define MSG_BODY_TOO_LONG ERR_REQUEST_TOO_LARGE, "Request body is longer than 16777216 bytes"

/* ---- frames ---- */
#define MSG_FRAME_BAD ERR_FRAME, "Bad frame: its length or its kind is not one of this protocol"
#define MSG_FRAME_NO_HELLO ERR_FRAME, "The first frame of a connection must be a HELLO"
#define MSG_FRAME_BAD_HELLO ERR_FRAME, "The HELLO frame cannot be read"
#define MSG_FRAME_VERSION ERR_FRAME, "Protocol version %u is not spoken here: this side speaks version %u"
#define MSG_FRAME_UNEXPECTED ERR_FRAME, "A frame of kind %u is not expected here"

#define MSG_FRAME_ANSWER_TOO_LONG ERR_REQUEST_TOO_LARGE, \
	"The answer needs a frame of %zu bytes: this side said that it takes %zu at most"

/* ---- values and numbers ---- */

/* ---- expressions ---- */

/* ---- keys and items ---- */

/* ---- tables ---- */

/* ---- engine and operations ---- */
#define MSG_NO_MEMORY ERR_NO_MEMORY, "Internal server error: out of memory"

#endif
