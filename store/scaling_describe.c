/* scaling_describe - what Application Auto Scaling tells of tables (scaling_api.h): all that a request's filters let through. */
#include "protocol/messages.h"
#include "store/scaling_api.h"
#include "store/scaling_resource.h"
#include "store/table_state.h"

/* An answer's list while it is written, and which rows belong to it. */
struct list {
	struct store *store;
	struct arena *arena;
	struct buf *out;
	struct slice ids, dimension, names; /* lists of ids and names; absent = any */
	struct slice id;
	uint32_t n;
	bool failed;
};

const char *scaling_policy_arn(const struct store *s, const struct catalog_table *t, const struct scaling_resource *r, struct slice name,
	struct arena *a)
{
	return arena_printf(a, "arn:aws:autoscaling:%s:%s:scalingPolicy:%.*s:resource/dynamodb/%.*s:policyName/%.*s", s->region, s->account,
		SLICE_FMT(t->facts.uuid), SLICE_FMT(r->id), SLICE_FMT(name));
}

/* Is it among them, or are there none? */
static bool listed(struct slice list, struct slice s)
{
	if (!slice_present(list))
		return true;
	struct mp m = mp_open(list);
	uint32_t n = mp_array(&m);
	bool any = n == 0;

	for (; n > 0; n--)
		any |= slice_eq(mp_str(&m), s);
	return any;
}

static bool wanted(const struct list *l, const struct scaling_resource *r)
{
	return listed(l->ids, r->id) && (!slice_present(l->dimension) || slice_eq(l->dimension, r->dimension))
		&& (!slice_present(l->id) || slice_eq(l->id, r->id));
}

static void put_target(struct list *l, const struct catalog_table *t, const struct autoscale_row *row,
	const struct scaling_resource *r)
{
	const char *role = arena_printf(l->arena, "arn:aws:iam::%s:role/aws-service-role/dynamodb.application-autoscaling.amazonaws.com/"
		"AWSServiceRoleForApplicationAutoScaling_DynamoDBTable", l->store->account);
	unsigned n = 0, k = 0;
	size_t at = record_begin(l->out);

	(void)t;
	l->failed |= role == NULL;
	record_put_double(l->out, &n, ScalableTarget_CreationTime, (double)row->created_ms / 1000);
	record_put_int(l->out, &n, ScalableTarget_MaxCapacity, row->max);
	record_put_int(l->out, &n, ScalableTarget_MinCapacity, row->min);
	record_put_str(l->out, &n, ScalableTarget_ResourceId, r->id);
	record_put_str(l->out, &n, ScalableTarget_RoleARN, slice_str(role != NULL ? role : ""));
	record_put_str(l->out, &n, ScalableTarget_ScalableDimension, r->dimension);
	record_put_str(l->out, &n, ScalableTarget_ServiceNamespace, SLICE_LIT("dynamodb"));
	record_key(l->out, &n, ScalableTarget_SuspendedState);
	size_t state = record_begin(l->out);

	for (unsigned i = SuspendedState_DynamicScalingInSuspended; i <= SuspendedState_ScheduledScalingSuspended; i++)
		record_put_bool(l->out, &k, i, false);
	record_end(l->out, state, k);
	record_end(l->out, at, n);
	l->n++;
}

static void put_config(struct buf *b, const struct autoscale_row *row)
{
	unsigned n = 0, k = 0;
	size_t at = record_begin(b);

	record_put_bool(b, &n, TargetTrackingScalingPolicyConfiguration_DisableScaleIn, row->out_only);
	record_key(b, &n, TargetTrackingScalingPolicyConfiguration_PredefinedMetricSpecification);
	size_t metric = record_begin(b);

	record_put_str(b, &k, PredefinedMetricSpecification_PredefinedMetricType, row->use == METER_READ
		? SLICE_LIT("DynamoDBReadCapacityUtilization") : SLICE_LIT("DynamoDBWriteCapacityUtilization"));
	record_end(b, metric, k);
	record_put_int(b, &n, TargetTrackingScalingPolicyConfiguration_ScaleInCooldown, row->in_cooldown_s);
	record_put_int(b, &n, TargetTrackingScalingPolicyConfiguration_ScaleOutCooldown, row->out_cooldown_s);
	record_put_double(b, &n, TargetTrackingScalingPolicyConfiguration_TargetValue, row->target);
	record_end(b, at, n);
}

static void put_policy(struct list *l, const struct catalog_table *t, const struct autoscale_row *row,
	const struct scaling_resource *r)
{
	if (!slice_present(row->policy) || !listed(l->names, row->policy))
		return;
	const char *arn = scaling_policy_arn(l->store, t, r, row->policy, l->arena);
	unsigned n = 0;
	size_t at = record_begin(l->out);

	l->failed |= arn == NULL;
	record_key(l->out, &n, ScalingPolicy_Alarms);
	mp_put_array(l->out, 0);
	record_put_double(l->out, &n, ScalingPolicy_CreationTime, (double)row->created_ms / 1000);
	record_put_str(l->out, &n, ScalingPolicy_PolicyARN, slice_str(arn != NULL ? arn : ""));
	record_put_str(l->out, &n, ScalingPolicy_PolicyName, row->policy);
	record_put_str(l->out, &n, ScalingPolicy_PolicyType, SLICE_LIT("TargetTrackingScaling"));
	record_put_str(l->out, &n, ScalingPolicy_ResourceId, r->id);
	record_put_str(l->out, &n, ScalingPolicy_ScalableDimension, r->dimension);
	record_put_str(l->out, &n, ScalingPolicy_ServiceNamespace, SLICE_LIT("dynamodb"));
	record_key(l->out, &n, ScalingPolicy_TargetTrackingScalingPolicyConfiguration);
	put_config(l->out, row);
	record_end(l->out, at, n);
	l->n++;
}

typedef void put_fn(struct list *l, const struct catalog_table *t, const struct autoscale_row *row, const struct scaling_resource *r);

/* An answer of one member, which is the list. */
static enum err put_list(struct store_reader *reader, struct list *l, bool known, unsigned member, put_fn *put, struct fault *f)
{
	const struct catalog *c = reader_catalog(reader);
	unsigned n = 0;
	size_t at = record_begin(l->out);

	record_key(l->out, &n, member);
	size_t list = list_begin(l->out);

	for (size_t i = 0; i < c->n && known; i++) {
		const struct catalog_table *t = c->by_name[i];

		for (unsigned k = 0; k < t->facts.scaled && !table_gone(l->store, t); k++) {
			struct scaling_resource r;
			bool ok = scaling_resource_of(t, &t->facts.scale[k], l->arena, &r);

			l->failed |= !ok;
			if (ok && wanted(l, &r))
				put(l, t, &t->facts.scale[k], &r);
		}
	}
	list_end(l->out, list, l->n);
	record_end(l->out, at, n);
	return l->failed ? fault_set(f, MSG_NO_MEMORY) : ERR_OK;
}

enum err describe_targets(struct store_reader *r, const struct request *req, struct buf *out, struct fault *f)
{
	struct list l = { .store = r->store, .arena = req->arena, .out = out, .ids = req->in.m[DescribeScalableTargetsRequest_ResourceIds],
		.dimension = record_str(&req->in, DescribeScalableTargetsRequest_ScalableDimension) };
	bool known = record_is(&req->in, DescribeScalableTargetsRequest_ServiceNamespace, "dynamodb");

	return put_list(r, &l, known, DescribeScalableTargetsResponse_ScalableTargets, put_target, f);
}

enum err describe_policies(struct store_reader *r, const struct request *req, struct buf *out, struct fault *f)
{
	struct list l = { .store = r->store, .arena = req->arena, .out = out, .names = req->in.m[DescribeScalingPoliciesRequest_PolicyNames],
		.id = record_str(&req->in, DescribeScalingPoliciesRequest_ResourceId),
		.dimension = record_str(&req->in, DescribeScalingPoliciesRequest_ScalableDimension) };
	bool known = record_is(&req->in, DescribeScalingPoliciesRequest_ServiceNamespace, "dynamodb");

	return put_list(r, &l, known, DescribeScalingPoliciesResponse_ScalingPolicies, put_policy, f);
}
