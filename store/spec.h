/* spec - reading and changing, in the CreateTableInput that the catalog keeps (catalog.h), what a table and its global indexes
 * both have: their throughputs.
 *
 * place: SPEC_TABLE, or that of a global index in the list, which must be there.
 * Threads: pure. Errors: memory, or a damaged description. */
#ifndef DYNAX_STORE_SPEC_H
#define DYNAX_STORE_SPEC_H

#include "protocol/shape.h"
#include "store/table.h"
#include "store/units.h"

enum spec_part { SPEC_PROVISIONED, SPEC_ON_DEMAND, SPEC_WARM };
enum { SPEC_TABLE = -1, SPEC_NOWHERE = -2 };

/* The place of the table, or of its global index, of an id; SPEC_NOWHERE if it is neither. */
int spec_place(const struct table *t, uint32_t id);
/* Absent if it is not given. */
struct slice spec_get(const struct record *spec, int place, enum spec_part part);
struct slice spec_index_name(const struct record *spec, int place);
/* value: absent to take it away. The arena keeps the lists. */
enum err spec_set(struct record *spec, int place, enum spec_part part, struct slice value, struct arena *a, struct fault *f)
	__attribute__((warn_unused_result));
/* Put a global index in the place of another (absent: leave it out), or, at SPEC_TABLE, after them all. */
enum err spec_put_index(struct record *spec, int place, struct slice index, struct arena *a, struct fault *f)
	__attribute__((warn_unused_result));

/* Let the warm throughput be at least this; on_demand: the mode that the table has, or will have. */
enum err spec_raise_warm(struct record *spec, int place, struct units least, bool on_demand, struct arena *a, struct fault *f)
	__attribute__((warn_unused_result));

#endif
