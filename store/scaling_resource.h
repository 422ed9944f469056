/* scaling_resource - how Application Auto Scaling names what it scales: "dynamodb", "table/shop/index/by-date" and
 * "dynamodb:index:WriteCapacityUnits" for the writes of an index.
 *
 * Threads: pure. */
#ifndef DYNAX_STORE_SCALING_RESOURCE_H
#define DYNAX_STORE_SCALING_RESOURCE_H

#include "store/catalog.h"

struct scaling_resource {
	struct slice id, dimension;      /* as given */
	struct slice table, index;       /* index: absent for the table itself */
	unsigned use;                    /* enum meter_use */
};

/* ERR_VALIDATION unless all three agree. */
enum err scaling_resource_parse(struct slice service, struct slice id, struct slice dimension, struct scaling_resource *r,
	struct fault *f) __attribute__((warn_unused_result));
/* Names of what a row scales, in the arena; false if memory is out. */
bool scaling_resource_of(const struct catalog_table *t, const struct autoscale_row *row, struct arena *a, struct scaling_resource *r)
	__attribute__((warn_unused_result));

#endif
