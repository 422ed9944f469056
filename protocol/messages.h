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
#define MSG_VALUE_NAME_EMPTY ERR_VALIDATION, "One or more parameter values were invalid: Empty attribute name"
#define MSG_VALUE_NAME_LONG ERR_VALIDATION, \
	"One or more parameter values were invalid: Attribute name is too large, must be less than 65536 bytes"
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

#define MSG_DEADLINE ERR_DEADLINE, "The deadline of the request has passed"
#define MSG_BODY_CODING ERR_INTERNAL, "The request's body cannot be decoded by its Content-Encoding"
#define MSG_BODY_TOO_LONG ERR_REQUEST_TOO_LARGE, "Request body is longer than 16777216 bytes"

/* ---- frames ---- */
#define MSG_FRAME_BAD ERR_FRAME, "Bad frame: its length or its kind is not one of this protocol"
#define MSG_FRAME_NO_HELLO ERR_FRAME, "The first frame of a connection must be a HELLO"
#define MSG_FRAME_BAD_HELLO ERR_FRAME, "The HELLO frame cannot be read"
#define MSG_FRAME_VERSION ERR_FRAME, "Protocol version %u is not spoken here: this side speaks version %u"
#define MSG_FRAME_FAREWELL ERR_UNAVAILABLE, "The server shuts down: what it has not answered was not carried out"
#define MSG_FRAME_IDLE ERR_UNAVAILABLE, "The connection was idle for too long: what was not answered was not carried out"
#define MSG_FRAME_UNEXPECTED ERR_FRAME, "A frame of kind %u is not expected here"

#define MSG_FRAME_ANSWER_TOO_LONG ERR_REQUEST_TOO_LARGE, \
	"The answer needs a frame of %zu bytes: this side said that it takes %zu at most"

/* ---- values and numbers ---- */

/* ---- expressions ---- */
#define MSG_EXPR_EMPTY ERR_VALIDATION, "Invalid %s: The expression can not be empty;"
#define MSG_EXPR_SIZE ERR_VALIDATION, \
	"Invalid %s: Expression size has exceeded the maximum allowed size; expression size: %zu"
#define MSG_EXPR_SYNTAX ERR_VALIDATION, "Invalid %s: Syntax error; token: \"%.*s\", near: \"%.*s\""
#define MSG_EXPR_COMPLAINT ERR_VALIDATION, "Invalid %s: %s%.*s%s"
#define MSG_EXPR_INVALID ERR_VALIDATION, "Invalid %s: %s"
#define MSG_EXPR_NO_NAME ERR_VALIDATION, "Invalid %s: An expression attribute name used in the document path is " \
	"not defined; attribute name: %.*s"
#define MSG_EXPR_NO_VALUE ERR_VALIDATION, "Invalid %s: An expression attribute value used in expression is not " \
	"defined; attribute value: %.*s"
#define MSG_EXPR_OVERLAP ERR_VALIDATION, "Invalid %s: Two document paths overlap with each other; must remove or " \
	"rewrite one of these paths; path one: %s, path two: %s"
#define MSG_EXPR_CONFLICT ERR_VALIDATION, "Invalid %s: Two document paths conflict with each other; must remove or " \
	"rewrite one of these paths; path one: %s, path two: %s"
#define MSG_EXPR_SECTION_TYPE ERR_VALIDATION, "Invalid %s: Incorrect operand type for operator or function; " \
	"operator: %s, operand type: %s, typeSet: ALLOWED_FOR_%s_OPERAND"
/* These four follow "Invalid ...Expression: ". */
#define TEXT_EXPR_COUNT "Incorrect number of operands for operator or function; operator or function: %s, " \
	"number of operands: %u"
#define TEXT_EXPR_SAME "The first operand must be distinct from the remaining operands for this operator or " \
	"function; operator: %s, first operand: %s"
#define TEXT_EXPR_TYPE "Incorrect operand type for operator or function; operator or function: %s, operand type: %s"
#define TEXT_EXPR_PATH "Operator or function requires a document path; operator or function: %s"
#define TEXT_EXPR_TYPE_NAME "Invalid attribute type name found; type: %.*s, valid types: {B,NULL,SS,BOOL,L,BS,N,NS,S,M}"
#define TEXT_EXPR_BETWEEN_TYPES "The BETWEEN operator requires same data type for lower and upper bounds; lower " \
	"bound operand: AttributeValue: %s, upper bound operand: AttributeValue: %s"
#define TEXT_EXPR_BETWEEN_ORDER "The BETWEEN operator requires upper bound to be greater than or equal to lower " \
	"bound; lower bound operand: AttributeValue: %s, upper bound operand: AttributeValue: %s"
#define MSG_EXPR_VALUES_ALONE ERR_VALIDATION, \
	"ExpressionAttributeValues can only be specified when using expressions"
#define MSG_EXPR_MAP_EMPTY ERR_VALIDATION, "%s must not be empty"
#define MSG_EXPR_MAP_KEY ERR_VALIDATION, "%s contains invalid key: Syntax error; key: \"%.*s\""
#define MSG_EXPR_MAP_KEY_EMPTY ERR_VALIDATION, "%s contains invalid key: The expression attribute map contains an empty key;"
#define MSG_EXPR_MAP_KEY_LONG ERR_VALIDATION, "%s contains invalid key: The expression attribute map contains a key " \
	"that is too long; key: \"%.*s\""
#define MSG_EXPR_NAME_EMPTY ERR_VALIDATION, "ExpressionAttributeNames contains invalid value: Empty attribute name " \
	"for key %.*s"
#define MSG_EXPR_NAME_LONG ERR_VALIDATION, "ExpressionAttributeNames contains invalid value: Attribute name is too " \
	"large, must be less than 65536 bytes for key %.*s"
#define MSG_EXPR_UNUSED ERR_VALIDATION, "Value provided in %s unused in expressions: keys: {%.*s}"
#define MSG_EXPR_KEY_NESTED ERR_VALIDATION, "Key attributes must be scalars; list random access '[]' and map lookup " \
	"'.' are not allowed: %s: %.*s"
#define MSG_UPDATE_PATH ERR_VALIDATION, "The document path provided in the update expression is invalid for update"
#define MSG_UPDATE_MISSING ERR_VALIDATION, \
	"The provided expression refers to an attribute that does not exist in the item"
#define MSG_UPDATE_TYPE ERR_VALIDATION, "An operand in the update expression has an incorrect data type"
#define MSG_UPDATE_MISMATCH ERR_VALIDATION, "Type mismatch for attribute to update"
#define MSG_KEYCOND_OPERATOR ERR_VALIDATION, "Invalid operator used in KeyConditionExpression: %s"
#define MSG_KEYCOND_NESTED_OPERATION ERR_VALIDATION, "KeyConditionExpressions cannot contain nested operations"
#define MSG_KEYCOND_FIRST_OPERAND ERR_VALIDATION, "Invalid condition in KeyConditionExpression: %s operator must have " \
	"the key attribute as its first operand"
#define MSG_KEYCOND_MANY_NAMES ERR_VALIDATION, \
	"Invalid condition in KeyConditionExpression: Multiple attribute names used in one condition"
#define MSG_KEYCOND_NESTED_PATH ERR_VALIDATION, \
	"KeyConditionExpressions cannot have conditions on nested attributes"
#define MSG_KEYCOND_NO_NAME ERR_VALIDATION, "Invalid condition in KeyConditionExpression: No key attribute specified"
#define MSG_KEYCOND_TWICE ERR_VALIDATION, "KeyConditionExpressions must only contain one condition per key"
#define MSG_KEYCOND_NONE ERR_VALIDATION, "Conditions can be of length 1 or 2 only"
#define MSG_KEYCOND_MANY ERR_VALIDATION, "The number of query conditions (%u) exceeds the number of key attributes defined in " \
	"the schema (%u)"
#define MSG_KEYCOND_UNSUPPORTED ERR_VALIDATION, "Query key condition not supported"
#define MSG_KEYCOND_MISSED ERR_VALIDATION, "Query condition missed key schema element: %.*s"
/* Of indexes whose keys have several attributes; the service's words for a HASH attribute without equality are not known. */
#define MSG_KEYCOND_HASHES ERR_VALIDATION, "Query key condition not supported: all HASH key attributes must have " \
	"equality conditions: %.*s"
#define MSG_KEYCOND_RANGES ERR_VALIDATION, "RANGE key attributes %.*s must have equality conditions specified in the query " \
	"because a condition is present on key attribute %.*s"
#define MSG_KEYCOND_INDEXABLE ERR_VALIDATION, "Attempted conditional constraint is not an indexable operation"
#define MSG_KEYCOND_TYPE ERR_VALIDATION, \
	"One or more parameter values were invalid: Condition parameter type does not match schema type"
/* A record that was not checked: a mistake of ours, not of a client. */
#define MSG_LEGACY_MALFORMED ERR_SERIALIZATION, "Malformed condition or update"
#define MSG_LEGACY_OPERATOR_ONE ERR_VALIDATION, \
	"ConditionalOperator can only be used when Filter or Expected has two or more elements"
#define MSG_LEGACY_INVALID(text) ERR_VALIDATION, "One or more parameter values were invalid: " text
#define MSG_LEGACY_VALUE_AND_LIST \
	MSG_LEGACY_INVALID("Value and AttributeValueList cannot be used together for Attribute: %.*s")
#define MSG_LEGACY_EXISTS_AND_OPERATOR \
	MSG_LEGACY_INVALID("Exists and ComparisonOperator cannot be used together for Attribute: %.*s")
#define MSG_LEGACY_NO_VALUE \
	MSG_LEGACY_INVALID("Value or AttributeValueList must be used with ComparisonOperator: %.*s for Attribute: %.*s")
#define MSG_LEGACY_LIST_ALONE \
	MSG_LEGACY_INVALID("AttributeValueList can only be used with a ComparisonOperator for Attribute: %.*s")
#define MSG_LEGACY_VALUE_MISSING MSG_LEGACY_INVALID("Value must be provided when Exists is %s for Attribute: %.*s")
#define MSG_LEGACY_VALUE_GIVEN MSG_LEGACY_INVALID("Value cannot be used when Exists is false for Attribute: %.*s")
#define MSG_LEGACY_ARGUMENTS MSG_LEGACY_INVALID("Invalid number of argument(s) for the %s ComparisonOperator")
#define MSG_LEGACY_SAME_TYPE MSG_LEGACY_INVALID("AttributeValues inside AttributeValueList must be of same type")
#define MSG_LEGACY_TYPE MSG_LEGACY_INVALID("ComparisonOperator %s is not valid for %s AttributeValue type")
#define MSG_LEGACY_BETWEEN ERR_VALIDATION, \
	"The BETWEEN condition was provided a range where the lower bound is greater than the upper bound"
#define MSG_LEGACY_ONLY_DELETE MSG_LEGACY_INVALID("Only DELETE action is allowed when no attribute value is specified")
#define MSG_LEGACY_DELETE_TYPE MSG_LEGACY_INVALID("DELETE action with value is not supported for the type %s")
#define MSG_LEGACY_ADD_TYPE MSG_LEGACY_INVALID("ADD action is not supported for the type %s")
#define MSG_LEGACY_DUPLICATE MSG_LEGACY_INVALID("Duplicate value in attribute name: %.*s")

/* ---- keys and items ---- */
#define MSG_KEY_SCHEMA ERR_VALIDATION, "The provided key element does not match the schema"
#define MSG_KEY_EMPTY ERR_VALIDATION, "One or more parameter values are not valid. The AttributeValue for a key attribute " \
	"cannot contain an empty %s value. Key: %.*s"
/* No blank before the number: the service's own slip. */
#define MSG_HASH_KEY_SIZE ERR_VALIDATION, "One or more parameter values were invalid: Size of hashkey has exceeded the " \
	"maximum size limit of2048 bytes"
#define MSG_RANGE_KEY_SIZE ERR_VALIDATION, "One or more parameter values were invalid: Aggregated size of all range keys " \
	"has exceeded the size limit of 1024 bytes"
#define MSG_KEY_MISSING ERR_VALIDATION, "One or more parameter values were invalid: Missing the key %.*s in the item"
#define MSG_KEY_TYPE ERR_VALIDATION, "One or more parameter values were invalid: Type mismatch for key %.*s expected: %s " \
	"actual: %s"
#define MSG_INDEX_KEY_TYPE ERR_VALIDATION, "One or more parameter values were invalid: Type mismatch for Index Key %.*s " \
	"Expected: %s Actual: %s IndexName: %.*s"
#define MSG_INDEX_KEY_EMPTY ERR_VALIDATION, "One or more parameter values are not valid. A value specified for a secondary " \
	"index key is not supported. The AttributeValue for a key attribute cannot contain an empty %s value. " \
	"IndexName: %.*s, IndexKey: %.*s"
#define MSG_UPDATE_INDEX_KEY_TYPE ERR_VALIDATION, "The update expression attempted to update the secondary index key to " \
	"unsupported type"
#define MSG_UPDATE_INDEX_KEY_VALUE ERR_VALIDATION, "One or more parameter values are not valid. The update expression " \
	"attempted to update a secondary index key to a value that is not supported. The AttributeValue for a key attribute " \
	"cannot contain an empty %s value."
#define MSG_UPDATE_INDEX_KEY_SIZE ERR_VALIDATION, "The update expression attempted to update the secondary index key " \
	"beyond allowed size limits"
#define MSG_UPDATE_KEY ERR_VALIDATION, "One or more parameter values were invalid: Cannot update attribute %.*s. This " \
	"attribute is part of the key"
#define MSG_ITEM_SIZE ERR_VALIDATION, "Item size has exceeded the maximum allowed size"
#define MSG_UPDATE_SIZE ERR_VALIDATION, "Item size to update has exceeded the maximum allowed size"
/* "Error messages and codes" in the developer guide. */
#define MSG_COLLECTION_SIZE ERR_ITEM_COLLECTION_SIZE, "Collection size exceeded."
#define MSG_CONDITION_FAILED ERR_CONDITION_FAILED, "The conditional request failed"
#define MSG_RETURN_VALUES ERR_VALIDATION, "ReturnValues can only be ALL_OLD or NONE"
#define MSG_MIXED_PARAMETERS ERR_VALIDATION, "Can not use both expression and non-expression parameters in the same " \
	"request: Non-expression parameters: {%s} Expression parameters: {%s}"
#define MSG_NAMES_WITHOUT_EXPRESSION ERR_VALIDATION, "ExpressionAttributeNames can only be specified when using expressions"
#define MSG_VALUES_WITHOUT_EXPRESSION ERR_VALIDATION, "ExpressionAttributeValues can only be specified when using " \
	"expressions: %s %s null"
#define MSG_OPERATOR_WITHOUT_EXPECTED ERR_VALIDATION, "ConditionalOperator cannot be used without Filter or Expected"
#define MSG_DUPLICATE_KEYS ERR_VALIDATION, "Provided list of item keys contains duplicates"
#define MSG_WRITE_REQUEST_EMPTY ERR_VALIDATION, "Supplied AttributeValue has more than one datatypes set, must contain " \
	"exactly one of the supported datatypes"
#define MSG_ONE_ACTION ERR_VALIDATION, "TransactItems can only contain one of Check, Put, Update or Delete"
#define MSG_ONE_ITEM_ONCE ERR_VALIDATION, "Transaction request cannot include multiple operations on one item"
#define MSG_TRANSACTION_SIZE ERR_VALIDATION, "Transaction payload size cannot exceed 4 MB"
#define MSG_TRANSACTION_CANCELED ERR_TRANSACTION_CANCELED, "Transaction cancelled, please refer cancellation reasons for " \
	"specific reasons [%.*s]"
#define MSG_TOKEN_MISMATCH ERR_IDEMPOTENT_MISMATCH, "DynamoDB rejected the request because you retried a request with a " \
	"different payload but with an idempotent token that was already used."
#define MSG_BATCH_WRITE_MANY ERR_VALIDATION, "Too many items requested for the BatchWriteItem call"

/* ---- tables ---- */
#define MSG_TABLE_UNKNOWN ERR_RESOURCE_NOT_FOUND, "Requested resource not found"
#define MSG_TABLE_NOT_FOUND ERR_RESOURCE_NOT_FOUND, "Requested resource not found: Table: %.*s not found"
#define MSG_TABLE_EXISTS ERR_RESOURCE_IN_USE, "Table already exists: %.*s"
#define TEXT_IN_USE "Attempt to change a resource which is still in use: "
#define MSG_TABLE_CREATING ERR_RESOURCE_IN_USE, TEXT_IN_USE "Table is being created: %.*s"
#define MSG_TABLE_UPDATING ERR_RESOURCE_IN_USE, TEXT_IN_USE "Table: %.*s is in the process of being updated."
#define MSG_TABLE_DELETING ERR_RESOURCE_IN_USE, TEXT_IN_USE "Table is being deleted: %.*s"
#define MSG_TABLE_INDEXES_BUSY ERR_RESOURCE_IN_USE, TEXT_IN_USE \
	"Cannot delete table while indexes are being created, updated, or deleted."
#define MSG_TTL_TABLE_BUSY ERR_RESOURCE_IN_USE, TEXT_IN_USE "Table %.*s is being %s"
#define MSG_TTL_NOT_DESCRIBED ERR_VALIDATION, "Cannot describe time to live while table is in %s state: Current table state is %s"
#define MSG_TABLE_PROTECTED ERR_VALIDATION, "Resource cannot be deleted as it is currently protected against deletion. " \
	"Disable deletion protection first."
#define MSG_TABLE_NAME_SHORT ERR_VALIDATION, "1 validation error detected: Value '%.*s' at 'tableName' failed to satisfy " \
	"constraint: Member must have length greater than or equal to 3"
#define MSG_KEY_SCHEMA_LENGTH ERR_VALIDATION, "1 validation error detected: Value '[%s]' at '%s' failed to satisfy " \
	"constraint: Member must have length less than or equal to 2"
#define TABLE_INVALID ERR_VALIDATION, "One or more parameter values were invalid: "
#define MSG_ON_DEMAND_UNITS TABLE_INVALID "Neither ReadCapacityUnits nor WriteCapacityUnits can be specified when " \
	"BillingMode is PAY_PER_REQUEST"
#define MSG_PROVISIONED_UNITS TABLE_INVALID "ReadCapacityUnits and WriteCapacityUnits must both be specified when " \
	"BillingMode is PROVISIONED"
#define MSG_UNITS_BOUNDS ERR_VALIDATION, "Given value %lld for %s is out of bounds"
#define MSG_DEFINED_TWICE ERR_VALIDATION, "Attribute Name is duplicated: %.*s"
#define MSG_DEFINITIONS_MANY TABLE_INVALID "Number of attributes in AttributeDefinitions exceeds what keys can use"
#define MSG_KEYS_WITHOUT_DEFINITION ERR_VALIDATION, "Invalid KeySchema: Some index key attribute have no definition"
#define MSG_KEYS_NOT_DEFINED TABLE_INVALID "Some index key attributes are not defined in AttributeDefinitions. " \
	"Keys: [%s], AttributeDefinitions: [%s]"
#define MSG_KEYS_SAME_NAME ERR_VALIDATION, "Both the Hash Key and the Range Key element in the KeySchema have the same name"
#define MSG_FIRST_KEY_NOT_HASH ERR_VALIDATION, "Invalid KeySchema: The first KeySchemaElement is not a HASH key type"
#define MSG_SECOND_KEY_NOT_RANGE ERR_VALIDATION, "Invalid KeySchema: The second KeySchemaElement is not a RANGE key type"
#define MSG_KEYS_ORDER TABLE_INVALID "All HASH key attributes must precede RANGE key attributes in the KeySchema"
#define MSG_KEYS_MANY TABLE_INVALID "The KeySchema exceeds the maximum allowed number of %s key attributes"
#define MSG_KEYS_MULTIPLE ERR_VALIDATION, "The KeySchema contains multiple key attributes with the same name"
#define MSG_DEFINITIONS_COUNT TABLE_INVALID "Number of attributes in KeySchema does not exactly match number of attributes " \
	"defined in AttributeDefinitions"
#define MSG_DEFINITIONS_UNUSED TABLE_INVALID "Some AttributeDefinitions are not used. AttributeDefinitions: [%s], " \
	"keys used: [%s]"
#define MSG_PROJECTION_UNKNOWN TABLE_INVALID "Unknown ProjectionType: null"
#define MSG_PROJECTION_EXTRA TABLE_INVALID "ProjectionType is %.*s, but NonKeyAttributes is specified"
#define MSG_PROJECTION_EMPTY TABLE_INVALID "ProjectionType is INCLUDE, but NonKeyAttributes is not specified"
#define MSG_PROJECTION_TWICE TABLE_INVALID "Duplicate element in NonKeyAttributes: %.*s"
#define MSG_INDEX_TWICE TABLE_INVALID "Duplicate index name: %.*s"
#define MSG_INDEXES_EMPTY TABLE_INVALID "List of %s is empty"
#define MSG_INDEX_WITHOUT_RANGE TABLE_INVALID "Index KeySchema does not have a range key for index: %.*s"
#define MSG_INDEX_OTHER_HASH TABLE_INVALID "Index KeySchema does not have the same leading hash key as table KeySchema " \
	"for index: %.*s. index hash key: %.*s, table hash key: %.*s"
#define MSG_TABLE_WITHOUT_RANGE TABLE_INVALID "Table KeySchema does not have a range key, which is required when " \
	"specifying a LocalSecondaryIndex"
#define MSG_LOCAL_INDEXES_MANY TABLE_INVALID "Number of LocalSecondaryIndexes exceeds per-table limit of 5"
#define MSG_GLOBAL_INDEXES_MANY TABLE_INVALID "GlobalSecondaryIndex count exceeds the per-table limit of 20"
#define MSG_INDEX_ON_DEMAND_UNITS TABLE_INVALID "ProvisionedThroughput should not be specified for index: %.*s when " \
	"BillingMode is PAY_PER_REQUEST"
#define MSG_INDEX_PROVISIONED_UNITS TABLE_INVALID "ProvisionedThroughput is not specified for index: %.*s"
#define MSG_STREAM_WITHOUT_VIEW TABLE_INVALID "Table is being created with a stream enabled, UpdateViewType is required"
#define MSG_STREAM_VIEW_WITHOUT TABLE_INVALID "Table is being created with a stream disabled, UpdateViewType should not " \
	"be specified"
#define MSG_RESOURCE_ARN ERR_VALIDATION, "Invalid TableArn: Invalid ResourceArn provided as input %.*s"
#define MSG_RESOURCE_UNKNOWN ERR_RESOURCE_NOT_FOUND, "Requested resource not found: ResourcArn: %.*s not found"
#define MSG_BACKUP_TABLE ERR_TABLE_NOT_FOUND, "Table not found: %.*s"
#define MSG_NO_RANDOM ERR_INTERNAL, "Internal server error: no random bytes"
#define MSG_NOT_AN_ARN TABLE_INVALID "ARNs must start with 'arn:': %.*s"
#define MSG_RESOURCE_DENIED ERR_ACCESS_DENIED, "User is not authorized to perform: dynamodb:ListTagsOfResource on " \
	"resource: %.*s"
#define MSG_TAGS_NONE ERR_VALIDATION, "Atleast one Tag needs to be provided as Input."
#define MSG_TAG_KEYS_NONE ERR_VALIDATION, "Atleast one Tag Key needs to be provided as Input."
#define MSG_TAGS_MANY ERR_VALIDATION, "Number of Tags exceed the current limit for the provided ResourceArn"
#define MSG_TAG_KEY ERR_VALIDATION, "The Tag Key provided is invalid, Key: %.*s"
#define MSG_TAG_VALUE ERR_VALIDATION, "The Tag Value provided is invalid, Value: %.*s"
#define MSG_ARN_OF_OTHER TABLE_INVALID "Invalid resource arn provided, only table or stream is accepted. Provided " \
	"resource arn: %.*s"
#define MSG_ATTRIBUTES_REDEFINED TABLE_INVALID "Attributes cannot be redefined. Please check that your attribute has the " \
	"same type as previously defined. Existing schema: Schema:[SchemaElement: key{%.*s:%.*s:HASH}] New schema: " \
	"Schema:[SchemaElement: key{%.*s:%.*s:HASH}]"
#define MSG_INDEX_UNDEFINED TABLE_INVALID "AttributeDefinitions is not specified for index: %.*s"
#define MSG_INDEX_ONE_ACTION TABLE_INVALID "Only one global secondary index action is allowed per " \
	"GlobalSecondaryIndexUpdate object"
#define MSG_TAG_PREFIX ERR_VALIDATION, "Tag Key cannot be prefixed with aws:, Key: %.*s"
#define MSG_TAG_TWICE ERR_VALIDATION, "Duplicate Tag Keys provided as input: Duplicate Tag Key found %.*s"
#define MSG_TTL_ALREADY ERR_VALIDATION, "TimeToLive is already %s"
#define MSG_TTL_OTHER ERR_VALIDATION, "TimeToLive is active on a different AttributeName: current AttributeName is %.*s"
#define MSG_UPDATE_NOTHING ERR_VALIDATION, "At least one of ProvisionedThroughput, BillingMode, UpdateStreamEnabled, " \
	"GlobalSecondaryIndexUpdates, SSESpecification, ReplicaUpdates, MultiAccountReplicaReady, ReplicaTransitRoleArn, " \
	"MultiRegionConsistency, DeletionProtectionEnabled, OnDemandThroughput, WarmThroughput or TableClass is required"
#define MSG_UPDATE_UNITS_MISSING TABLE_INVALID "ProvisionedThroughput must be specified when BillingMode is PROVISIONED"
#define MSG_UPDATE_INDEX_UNITS TABLE_INVALID "ProvisionedThroughput must be specified for index: %.*s"
#define MSG_UNITS_SAME ERR_VALIDATION, "The provisioned throughput for the table will not change. The requested value " \
	"equals the current value. Current ReadCapacityUnits provisioned for the table: %lld. Requested " \
	"ReadCapacityUnits: %lld. Current WriteCapacityUnits provisioned for the table: %lld. Requested " \
	"WriteCapacityUnits: %lld. Refer to the Amazon DynamoDB Developer Guide for current limits and how to request " \
	"higher limits."
#define MSG_INDEX_UNITS_SAME ERR_VALIDATION, "The provisioned throughput for the index %.*s will not change. The requested value " \
	"equals the current value. Current ReadCapacityUnits provisioned for index %.*s: %lld. Requested ReadCapacityUnits: %lld. " \
	"Current WriteCapacityUnits provisioned for index %.*s: %lld. Requested WriteCapacityUnits: %lld. Refer to the Amazon " \
	"DynamoDB Developer Guide for current limits and how to request higher limits."
#define MSG_UPDATE_STREAM_VIEW TABLE_INVALID "If stream is being enabled then UpdateViewType is required"
#define MSG_UPDATE_STREAM_NO_VIEW TABLE_INVALID "If stream is being disabled, then UpdateViewType must not be specified"
#define MSG_STREAM_ENABLED ERR_VALIDATION, "Table already has an enabled stream: TableName: %.*s"
#define MSG_STREAM_NONE ERR_VALIDATION, "Table has no stream to disable: TableName: %.*s"
#define MSG_INDEX_UPDATE_EMPTY TABLE_INVALID "One of GlobalSecondaryIndexUpdate.Update, GlobalSecondaryIndexUpdate.Create, " \
	"GlobalSecondaryIndexUpdate.Delete must not be null"
#define MSG_UPDATE_ALONE TABLE_INVALID "%s must be the only operation in the request"
#define MSG_UPDATE_WARM_INDEX TABLE_INVALID "Create global secondary index cannot be specified when updating WarmThroughput"
#define MSG_UPDATE_MAXIMUM_STREAM TABLE_INVALID "OnDemandThroughput can only be combined with BillingMode in an UpdateTable request"
#define MSG_UPDATE_STREAM_UNITS TABLE_INVALID "You cannot modify stream status while updating table IOPS"
#define MSG_UPDATE_INDEX_AND_UNITS TABLE_INVALID "You cannot create or delete index while updating table IOPS"
#define MSG_UPDATE_INDEX_STREAM TABLE_INVALID "You cannot create or delete index while changing stream status"
#define MSG_INDEX_UPDATED_TWICE TABLE_INVALID "Only one global secondary index update per index is allowed simultaneously. " \
	"Index: %.*s"
#define MSG_INDEX_NOT_GLOBAL ERR_VALIDATION, "Cannot %s an index that is not a GlobalSecondaryIndex: %.*s"
#define MSG_INDEX_EXISTS ERR_VALIDATION, "Attempting to create an index which already exists"
#define MSG_INDEX_ONE_AT_ONCE ERR_LIMIT_EXCEEDED, "Subscriber limit exceeded: Only 1 online index can be created or " \
	"deleted simultaneously per table"
#define MSG_INDEX_LIMIT ERR_LIMIT_EXCEEDED, "Subscriber limit exceeded: GlobalSecondaryIndex count exceeds the per-table " \
	"limit of 20"
#define MSG_CATALOG_DAMAGED ERR_CORRUPT, "The description of a table is damaged"
#define MSG_BACKLOG_DAMAGED ERR_CORRUPT, "A change that waits for its global index is damaged, or not of this version"

/* ---- streams ---- */
#define MSG_STREAM_ARN ERR_VALIDATION, "Invalid StreamArn"
#define MSG_STREAM_NOT_FOUND ERR_RESOURCE_NOT_FOUND, "Requested resource not found: Stream: %.*s not found"
#define MSG_SHARD_NOT_FOUND ERR_RESOURCE_NOT_FOUND, "Requested resource not found: Shard: %.*s not found"
#define MSG_ITERATOR_INVALID ERR_VALIDATION, "Invalid ShardIterator"
#define MSG_ITERATOR_SHARD ERR_RESOURCE_NOT_FOUND, "Invalid ShardId in ShardIterator"
#define MSG_ITERATOR_EXPIRED ERR_EXPIRED_ITERATOR, "Shard iterator has expired"
#define MSG_RECORDS_TRIMMED ERR_TRIMMED_DATA, "The data you are trying to access has been trimmed"
#define MSG_SEQUENCE_MISSING ERR_VALIDATION, "SequenceNumber must be specified for ShardIteratorType %.*s"
#define MSG_SEQUENCE_GIVEN ERR_VALIDATION, "SequenceNumber must not be specified for ShardIteratorType %.*s"
#define MSG_SEQUENCE_INVALID ERR_VALIDATION, "Invalid SequenceNumber: %.*s"
#define MSG_SHARD_FILTER ERR_VALIDATION, "ShardFilter must have both Type and ShardId"
#define MSG_STREAM_LIMIT ERR_VALIDATION, "1 validation error detected: Value '%lld' at 'limit' failed to satisfy constraint: " \
	"Member must have value less than or equal to %d"
#define MSG_RECORD_DAMAGED ERR_CORRUPT, "A record of a stream is damaged"

/* ---- queries and scans ---- */
#define MSG_QUERY_NO_CONDITION ERR_VALIDATION, \
	"Either the KeyConditions or KeyConditionExpression parameter must be specified in the request."
#define MSG_SEGMENT_ALONE ERR_VALIDATION, \
	"The TotalSegments parameter is required but was not present in the request when Segment parameter is present"
#define MSG_SEGMENTS_ALONE ERR_VALIDATION, \
	"The Segment parameter is required but was not present in the request when parameter TotalSegments is present"
#define MSG_SEGMENT_RANGE ERR_VALIDATION, \
	"The Segment parameter is zero-based and must be less than parameter TotalSegments: " \
	"Segment: %u is not less than TotalSegments: %u"
#define MSG_SELECT_PROJECTION ERR_VALIDATION, "Cannot specify the %s when choosing to get %s"
#define MSG_SELECT_WITHOUT_INDEX ERR_VALIDATION, "ALL_PROJECTED_ATTRIBUTES can be used only when Querying using an IndexName"
#define MSG_SELECT_NOTHING ERR_VALIDATION, \
	"Must specify the AttributesToGet or ProjectionExpression when choosing to get SPECIFIC_ATTRIBUTES"
#define MSG_INDEX_UNKNOWN ERR_VALIDATION, "The table does not have the specified index: %.*s"
#define MSG_INDEX_BACKFILLING ERR_VALIDATION, "Cannot read from backfilling global secondary index: %.*s"
#define MSG_GSI_CONSISTENT ERR_VALIDATION, "Consistent reads are not supported on global secondary indexes"
#define MSG_GSI_ALL ERR_VALIDATION, \
	"One or more parameter values were invalid: Select type ALL_ATTRIBUTES is not supported for global secondary index " \
	"%.*s because its projection type is not ALL"
#define MSG_GSI_PROJECTS ERR_VALIDATION, \
	"One or more parameter values were invalid: Global secondary index %.*s does not project [%.*s]"
#define MSG_FILTER_NOT_HELD ERR_VALIDATION, \
	"One or more parameter values were invalid: Secondary index %.*s does not project one or more filter attributes: [%.*s]"
#define MSG_FILTER_ON_KEY ERR_VALIDATION, \
	"%s can only contain non-primary key attributes: Primary key attribute: %.*s"
#define MSG_START_KEY ERR_VALIDATION, "The provided starting key is invalid"
#define MSG_START_OUTSIDE ERR_VALIDATION, \
	"The provided starting key is outside query boundaries based on provided conditions"
#define MSG_START_PREDICATE ERR_VALIDATION, "The provided starting key does not match the range key predicate"
#define MSG_START_ONE_ROW ERR_VALIDATION, "The query can return at most one row and cannot be restarted"
#define MSG_START_NO_RANGE ERR_VALIDATION, \
	"The provided exclusive start key is invalid: ExclusiveStartKey: {%.*s=AttributeValue: {%s:%.*s}}"
#define MSG_START_SEGMENT ERR_VALIDATION, \
	"The provided starting key is invalid: Invalid ExclusiveStartKey. Please use ExclusiveStartKey with correct Segment. " \
	"TotalSegments: %u Segment: %u"

/* ---- throughput ---- */
#define MSG_UNITS_EXCEEDED ERR_THROUGHPUT_EXCEEDED, "The level of configured provisioned throughput for the table was exceeded. " \
	"Consider increasing your provisioning level with the UpdateTable API."
#define MSG_INDEX_UNITS_EXCEEDED ERR_THROUGHPUT_EXCEEDED, "The level of configured provisioned throughput for one or more " \
	"global secondary indexes of the table was exceeded. Consider increasing your provisioning level for the " \
	"under-provisioned global secondary indexes with the UpdateTable API"
#define MSG_DECREASES ERR_LIMIT_EXCEEDED, "Subscriber limit exceeded: Provisioned throughput decreases are limited within a " \
	"given UTC day. After the first 4 decreases, each subsequent decrease in the same UTC day can be performed at most once " \
	"every 3600 seconds. Number of decreases today: %u. Last decrease at %s. Next decrease can be made at %s"
#define MSG_SWITCHES ERR_LIMIT_EXCEEDED, "Subscriber limit exceeded: Update to PayPerRequest mode are limited to %u times in 1 " \
	"day(s). Last update at %s. Next update can be made at %s"
#define MSG_AUTOSCALE_RANGE ERR_VALIDATION, "The minimum is at least 1, and not greater than the maximum"
#define MSG_AUTOSCALE_TARGET ERR_VALIDATION, "The target is from %u to %u percent"
#define MSG_AUTOSCALE_COOLDOWN ERR_VALIDATION, "A cooldown is %u seconds at most"
#define MSG_SCALING_UNSUPPORTED ERR_VALIDATION, "Unsupported service namespace, resource type or scalable dimension"
#define MSG_SCALING_TABLE ERR_VALIDATION, "DynamoDB table does not exist: %.*s"
#define MSG_SCALING_BOTH ERR_VALIDATION, "MinCapacity and MaxCapacity must both be specified to register a new scalable target"
#define MSG_SCALING_SUSPENDED ERR_VALIDATION, "Scaling cannot be suspended"
#define MSG_SCALING_TARGET ERR_OBJECT_NOT_FOUND, "No scalable target %s for service namespace: dynamodb, resource ID: %.*s, " \
	"scalable dimension: %.*s"
#define MSG_SCALING_POLICY ERR_OBJECT_NOT_FOUND, "No scaling policy found for service namespace: dynamodb, resource ID: %.*s, " \
	"scalable dimension: %.*s, policy name: %.*s"
#define MSG_SCALING_ONE_POLICY ERR_VALIDATION, "Only one TargetTrackingScaling policy for a given metric specification is allowed."
#define MSG_SCALING_TRACKING ERR_VALIDATION, "A TargetTrackingScalingPolicyConfiguration is required, and no other policy type is " \
	"supported"
#define MSG_SCALING_METRIC ERR_VALIDATION, "The PredefinedMetricType does not go with the scalable dimension"
#define TEXT_MAXIMUM_PROVISIONED TABLE_INVALID "%s for OnDemandThroughput cannot be specified "
#define MSG_MAXIMUM_PROVISIONED TEXT_MAXIMUM_PROVISIONED "when table BillingMode is PROVISIONED."
#define MSG_MAXIMUM_PROVISIONED_NOW TEXT_MAXIMUM_PROVISIONED "when the table BillingMode is PROVISIONED"
#define MSG_INDEX_MAXIMUM_PROVISIONED TEXT_MAXIMUM_PROVISIONED "for index : %.*s when table BillingMode is PROVISIONED."
#define MSG_INDEX_MAXIMUM_PROVISIONED_NOW TEXT_MAXIMUM_PROVISIONED "for index : %.*s when the table BillingMode is PROVISIONED"
#define MSG_MAXIMUM_RANGE TABLE_INVALID "Requested %s for OnDemandThroughput for table is outside of valid range"
#define MSG_INDEX_MAXIMUM_RANGE TABLE_INVALID "Requested %s for OnDemandThroughput for index : %.*s is outside of valid range"
#define MSG_WARM_LOWER TABLE_INVALID "Requested %s for WarmThroughput for table is lower than %s"
#define MSG_INDEX_WARM_LOWER TABLE_INVALID "Requested %s for WarmThroughput for index %.*s is lower than %s"
#define TEXT_WARM_CURRENT "current WarmThroughput, decreasing WarmThroughput is not supported"
#define TEXT_WARM_INITIAL "initial throughput for OnDemand. See: https://docs.aws.amazon.com/amazondynamodb/latest/" \
	"developerguide/on-demand-capacity-mode.html#on-demand-capacity-mode-initial"
#define MSG_CAPACITY_EXCEEDED ERR_THROTTLING, "Throughput exceeds the current capacity of your table or index. DynamoDB is " \
	"automatically scaling your table or index so please try again shortly. If exceptions persist, check if you have a hot key: " \
	"https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/bp-partition-key-design.html"
#define MSG_INDEX_CAPACITY_EXCEEDED ERR_THROTTLING, "Throughput exceeds the current capacity for one or more global secondary " \
	"indexes. DynamoDB is automatically scaling your index so please try again shortly."
#define MSG_MAXIMUM_EXCEEDED ERR_THROTTLING, "Throughput exceeds the maximum OnDemandThroughput configured on table or index"

/* ---- engine ---- */
#define MSG_ENGINE_BUSY ERR_BUSY, "The data directory %s is in use by another process"
#define MSG_ENGINE_DISK_FULL ERR_DISK_FULL, "Internal server error: no space left on the store's disk (%s)"
#define MSG_ENGINE_MAP_FULL ERR_MAP_FULL, "Internal server error: the store has reached its size limit"
#define MSG_ENGINE_IO ERR_IO, "Internal server error: %s: %s"
#define MSG_ENGINE_LOG_CORRUPT ERR_CORRUPT, "The log is damaged: file log/%s at byte %llu: %s"
#define MSG_ENGINE_INDEX_CORRUPT ERR_CORRUPT, "The store's index is damaged or not ours: %s"
#define MSG_ENGINE_NEWER ERR_CORRUPT, "The data directory has format %u, of a newer version; this one knows formats up to %u"
#define MSG_ENGINE_TRIMMED ERR_TRIMMED_DATA, "The log no longer has what follows %llu; it begins after %llu"
#define MSG_ENGINE_READERS ERR_UNAVAILABLE, "Too many views of the store are open at once"

/* ---- PartiQL ---- */
#define MSG_PQ_MALFORMED ERR_VALIDATION, "Statement wasn't well formed, can't be processed: %s"
#define TEXT_PQ_RETURNING "Expected ( MODIFIED | ALL ) ( NEW | OLD ) in each returning element."
/* Where a text ends in %s, a position follows: " at 1:8:4". */
#define MSG_PQ_PARAMETERS ERR_VALIDATION, "Number of parameters in request and statement don't match."
#define MSG_PQ_OPERATION ERR_VALIDATION, "Unsupported operation: %s"
#define MSG_PQ_CLAUSE ERR_VALIDATION, "Unsupported clause: %s%s"
#define MSG_PQ_TOKEN ERR_VALIDATION, "Unsupported token in expression: %s%s"
#define MSG_PQ_SEVERAL ERR_VALIDATION, "Only select from a single table or index is supported."
#define MSG_PQ_ALIAS ERR_VALIDATION, "Aliasing is not supported"
#define MSG_PQ_VALUE_SELECT ERR_VALIDATION, "Select projection doesn't support value or pivot keywords"
#define MSG_PQ_FROM ERR_VALIDATION, "Unexpected from source"
#define MSG_PQ_FROM_LONG ERR_VALIDATION, "A path may contain at most 2 components in the FROM clause"
#define MSG_PQ_FROM_INDEX ERR_VALIDATION, \
	"FROM clause may only contain a single table name in data manipulation statements"
#define MSG_PQ_INDEX_UNKNOWN ERR_VALIDATION, "The table does not have the specified index"
#define MSG_PQ_NO_INDEX ERR_VALIDATION, "This operation is not supported on an index"
#define MSG_PQ_TABLE_NAME ERR_VALIDATION, "Table name should be within the length [3, 255] and only contain 'a-z', " \
	"'A-Z', '0-9', '-', '_', '.'."
#define MSG_PQ_COMPONENT ERR_VALIDATION, "Unexpected path component%s"
#define MSG_PQ_EMPTY_PATH ERR_VALIDATION, "Path component cannot be an empty string"
#define MSG_PQ_HIERARCHY ERR_VALIDATION, "Changing item's hierarchy while reading isn't supported"
#define MSG_PQ_UNPIVOT ERR_VALIDATION, "Unpivot path component like a.*.b are not supported"
#define MSG_PQ_WILDCARD ERR_VALIDATION, "Wildcard path component like a[*].b are not supported"
#define MSG_PQ_INDEX ERR_VALIDATION, "List index is not within the allowable range; index: [%.*s]%s"
#define MSG_PQ_DEPTH ERR_VALIDATION, "The document path has too many nesting levels; nesting levels: %u"
#define MSG_PQ_NESTING ERR_VALIDATION, "Nesting Levels have exceeded supported limits"
#define MSG_PQ_DEEP ERR_VALIDATION, "Nesting Levels have exceeded supported limits under %s"
#define MSG_PQ_OPERATORS ERR_VALIDATION, "The expression contains too many operators; operator count: %u"
#define MSG_PQ_COLUMN_TWICE ERR_VALIDATION, "Duplicate identifiers in select clause: %.*s"
#define MSG_PQ_ORDER_TYPE ERR_VALIDATION, "Argument to ORDER BY must be of type VariableReference. Type: %s%.*s%s"
#define MSG_PQ_ORDER_KEY ERR_VALIDATION, "Variable reference %.*s in ORDER BY clause must be part of the primary key"
#define MSG_PQ_ORDER_WHERE ERR_VALIDATION, "Must have WHERE clause in the statement when using ORDER BY clause."
#define MSG_PQ_ORDER_SCAN ERR_VALIDATION, \
	"Must have at least one non-optional hash key condition in WHERE clause when using ORDER BY clause."
#define MSG_PQ_ORDER_HASH ERR_VALIDATION, \
	"Must have hash key in ORDER BY clause when more than one hash key condition specified in WHERE clause."
#define MSG_PQ_RETURNING_MANY ERR_VALIDATION, "Invalid syntax with multiple returning elements in RETURNING clause"
#define MSG_PQ_RETURNING_NAMES ERR_VALIDATION, "Expected '*' after ( MODIFIED | ALL ) ( NEW | OLD ) in RETURNING clause"
#define MSG_PQ_RETURNING_INSERT ERR_VALIDATION, "RETURNING is not supported in INSERT"
#define MSG_PQ_RETURNING_DELETE ERR_VALIDATION, \
	"Invalid returning clause: RETURNING %s. Only RETURNING ALL OLD * is allowed in DELETE statements."
#define MSG_PQ_INSERT_MANY ERR_VALIDATION, "Unsupported operation: Inserting multiple items in a single statement is not " \
	"supported, use \"INSERT INTO tableName VALUE item\" instead"
#define MSG_PQ_ITEM ERR_VALIDATION, "Unsupported format in item expression. Please use struct format {...} to express item " \
	"values for insert statement.%s"
#define MSG_PQ_KEY_TYPE ERR_VALIDATION, "Tuple keys must be of type String. Actual type: %s under %s%s"
#define MSG_PQ_KEY_TWICE ERR_VALIDATION, "Duplicate keys in tuple. Key: %.*s under %s%s"
#define MSG_PQ_DATA_TYPE ERR_VALIDATION, "Unsupported data type: %s under key %s%s"
#define MSG_PQ_EMPTY_BAG ERR_VALIDATION, "Empty bags are not supported"
#define MSG_PQ_BAG_TYPE ERR_VALIDATION, \
	"Unsupported data type in Bag. DynamoDB only supports either numbers or strings in bags"
#define MSG_PQ_DUPLICATE_NS ERR_VALIDATION, \
	"One or more parameter values were invalid: Input collection [%.*s] contains duplicates! under %s"
#define MSG_PQ_FUNCTION ERR_VALIDATION, "Unrecognized function: %.*s%s"
#define MSG_PQ_NOT_IN_CONDITION ERR_VALIDATION, "The function is not allowed in a condition expression; function: %s"
#define MSG_PQ_NOT_IN_UPDATE ERR_VALIDATION, "The function is not allowed in an update expression; function: %s"
#define MSG_PQ_PLAIN ERR_VALIDATION, "%s"
#define MSG_PQ_COUNT ERR_VALIDATION, TEXT_EXPR_COUNT
#define MSG_PQ_TYPE ERR_VALIDATION, TEXT_EXPR_TYPE
#define MSG_PQ_IN_MANY ERR_VALIDATION, "The IN operator is provided with too many operands; number of operands: %u"
#define MSG_PQ_CONDITION_OPERATOR ERR_VALIDATION, "Unsupported operator in Condition Expression. Operator: %.*s"
#define MSG_PQ_UPDATE_OPERATOR ERR_VALIDATION, "Unsupported operator in Update Expression. Operator: %.*s"
#define MSG_PQ_MISSING_COMPARED ERR_VALIDATION, "MISSING must be compared using IS operator"
#define MSG_PQ_IS_OPERAND ERR_VALIDATION, \
	"The left hand side argument to IS must be a Variable Reference, Literal, or Path"
#define MSG_PQ_IS_TYPE ERR_VALIDATION, "Unsupported data type for IS operator: %.*s. Supported data types are [MISSING, " \
	"NULL, BOOLEAN, BLOB, STRING, NUMERIC, STRUCT, TUPLE, LIST]%s"
#define MSG_PQ_IS_IN_UPDATE ERR_VALIDATION, "IS operator is not supported in update expressions"
#define MSG_PQ_IN ERR_VALIDATION, "IN operator must have a left hand argument of type Variable Reference and right hand " \
	"argument of type Seq with at least one member"
#define MSG_PQ_AND_OR ERR_VALIDATION, "The arguments to AND/OR must be Expressions"
#define MSG_PQ_NOT ERR_VALIDATION, "The argument to NOT must be a Type or Expression"
#define MSG_PQ_WHERE ERR_VALIDATION, "WHERE clause must contain an expression that resolves to a boolean"
#define MSG_PQ_SET_COUNT ERR_VALIDATION, "SET_%s must have exactly two arguments%s"
#define MSG_PQ_SET_FIRST ERR_VALIDATION, "The first argument to SET_%s must equal the assignment value%s"
#define MSG_PQ_SET_SECOND ERR_VALIDATION, "The second argument to SET_%s must be a value with type SET%s"
#define MSG_PQ_KEY_INCOMPLETE ERR_VALIDATION, "Where clause does not contain a mandatory equality on all key attributes"
#define MSG_PQ_KEY_MANY ERR_VALIDATION, \
	"Multiple conditions on same key %.*s. Only single item Update/Insert/Delete are supported"
#define MSG_PQ_KEY_SCALAR ERR_VALIDATION, "Key value must be of type S, N, or B. Key name: %.*s, Key type: %s"
#define MSG_PQ_KEY_MISMATCH ERR_VALIDATION, \
	"Key attribute's data type should match its data type in table's schema: Key %.*s"
#define MSG_PQ_OVERLAP ERR_VALIDATION, "Overlapping conditions with range keys are not supported in where clause"
#define MSG_PQ_READS ERR_VALIDATION, "Too many decomposed read operations for a given query."
#define MSG_PQ_EXISTS ERR_VALIDATION, "EXISTS() must contain a single item read with additional condition"
#define MSG_PQ_EXISTS_ALONE ERR_VALIDATION, "EXISTS can only be used in ExecuteTransaction write requests."
#define MSG_PQ_EXISTS_INDEX ERR_VALIDATION, "Operations on indices are not supported in transactions"
#define MSG_PQ_TOKEN_INVALID ERR_VALIDATION, "Invalid NextToken"
#define MSG_PQ_TOKEN_OTHER ERR_VALIDATION, "NextToken does not match request"
#define MSG_PQ_CONSISTENT ERR_VALIDATION, "Strongly consistent read is not supported on Global Secondary Indexes"
#define MSG_PQ_MULTIPLE_KEYS ERR_VALIDATION, "PartiQL statements cannot be executed on tables with multi-attribute HASH " \
	"keys or multi-attribute RANGE keys."
#define MSG_PQ_BATCH_SELECT ERR_VALIDATION, \
	"Select statements within BatchExecuteStatement must specify the primary key in the where clause."
#define MSG_PQ_BATCH_MIXED ERR_VALIDATION, "Read and write requests together in the same batch is not supported."
#define MSG_PQ_TRANSACT_SELECT ERR_VALIDATION, \
	"Select statements within ExecuteTransaction must specify the primary key in the where clause."
#define MSG_PQ_TRANSACT_INDEX ERR_VALIDATION, "Reads on indices are not supported within transactions."
#define MSG_PQ_TRANSACT_RETURNING ERR_VALIDATION, "RETURNING clause is not supported in ExecuteTransaction."
#define MSG_PQ_TRANSACT_MIXED ERR_VALIDATION, \
	"ExecuteTransaction API does not support both read and write operations in the same request."
#define MSG_PQ_TRANSACT_STATEMENT ERR_VALIDATION, "Validation failed in TransactStatements[%u]: %s"
#define MSG_DUPLICATE_ITEM ERR_DUPLICATE_ITEM, "Duplicate primary key exists in table"

/* ---- engine and operations ---- */
#define MSG_NOT_SUPPORTED ERR_UNKNOWN_OPERATION, "%s is not supported yet"
#define MSG_NO_MEMORY ERR_NO_MEMORY, "Internal server error: out of memory"

/* ---- reads ---- */
#define MSG_BATCH_GET_MANY ERR_VALIDATION, "Too many items requested for the BatchGetItem call"
#define MSG_TRANSACT_GET_SIZE ERR_VALIDATION, "The aggregate size of the items in the transaction exceeded 4 MB"
/* For tests of what happens when a read fails (fault_point.h). */
#define MSG_FAULT_POINT ERR_IO, "A read failed on purpose"

#endif
