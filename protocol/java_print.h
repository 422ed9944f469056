/* java_print - a record's value as the service prints it into its messages: "[a, b]", "{h=[...]}",
 * "KeySchemaElement(attributeName=pk, keyType=HASH)".
 *
 * Programs match the frame around it, hardly the rest, so attribute values are only named, as the service does.
 * Threads: pure function. */
#ifndef DYNAX_PROTOCOL_JAVA_PRINT_H
#define DYNAX_PROTOCOL_JAVA_PRINT_H

#include "protocol/shape.h"

/* Append `value`, an encoded value of `shape`; a long one loses contents in the middle, never a bracket. */
void java_print(struct buf *out, const struct shape *shape, struct slice value);
/* Append a member's name with its first letter small: "tableName". */
void java_print_name(struct buf *out, const char *name);

#endif
