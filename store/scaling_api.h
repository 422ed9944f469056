/* scaling_api - the operations of Application Auto Scaling, for the throughput of tables and global indexes (autoscale.h).
 *
 *    a scalable target: minimum and maximum  -+
 *    its one scaling policy: the rest         -+--> one row of the table (struct autoscale_row)
 *
 * A target goes with its policy and with its table; without a policy it only keeps what is provisioned in its range. There are no
 * alarms to be seen, no suspended states, no step scaling, no scheduled actions, and answers have one page.
 * Source: "Application Auto Scaling API Reference"; "Using the AWS CLI to manage DynamoDB auto scaling" in the developer guide.
 * Threads: as store_describe and store_prepare. */
#ifndef DYNAX_STORE_SCALING_API_H
#define DYNAX_STORE_SCALING_API_H

#include "store/describe.h"

struct scaling_resource;

describe_fn describe_targets, describe_policies;
/* In the arena; NULL if memory is out. */
const char *scaling_policy_arn(const struct store *s, const struct catalog_table *t, const struct scaling_resource *r, struct slice name,
	struct arena *a);

#endif
