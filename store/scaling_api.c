/* scaling_api - see scaling_api.h. Changes; scaling_describe.c tells what there is. */
#include "store/scaling_api.h"

#include "protocol/messages.h"
#include "store/autoscale.h"
#include "store/scaling_resource.h"
#include "store/table_edit.h"
#include "store/table_state.h"
#include "store/write_plan.h"

/* One change: what it is about, and what it does to the rows of the table. */
struct scaling {
	struct scaling_resource of;
	struct record config;            /* of PutScalingPolicy */
	struct table_edit edit;
	struct autoscale_row *rows;
	uint32_t owner;
	enum err (*change)(struct scaling *s, const struct record *in, struct fault *f);
};

/* ---- on the writer ---- */

static struct autoscale_row *row_of(const struct scaling *s)
{
	return autoscale_row_find(s->rows, s->edit.draft.facts.scaled, s->owner, s->of.use);
}

static enum err register_target(struct scaling *s, const struct record *in, struct fault *f)
{
	bool min = record_has(in, RegisterScalableTargetRequest_MinCapacity), max = record_has(in, RegisterScalableTargetRequest_MaxCapacity);
	struct autoscale_row *r = row_of(s);

	if (r == NULL && (!min || !max))
		return fault_set(f, MSG_SCALING_BOTH);
	r = autoscale_row_make(&s->edit, s->rows, s->owner, s->of.use);
	r->min = record_int(in, RegisterScalableTargetRequest_MinCapacity, r->min);
	r->max = record_int(in, RegisterScalableTargetRequest_MaxCapacity, r->max);
	if (r->min < 1 || r->max < r->min)
		return fault_set(f, MSG_AUTOSCALE_RANGE);
	return s->edit.old->table.on_demand ? ERR_OK : autoscale_bring_inside(&s->edit, r, f);
}

static enum err deregister_target(struct scaling *s, const struct record *in, struct fault *f)
{
	struct autoscale_row *r = row_of(s);

	(void)in;
	if (r == NULL)
		return fault_set(f, MSG_SCALING_TARGET, "found", SLICE_FMT(s->of.id), SLICE_FMT(s->of.dimension));
	autoscale_row_remove(&s->edit.draft.facts, s->rows, r);
	return ERR_OK;
}

static enum err put_policy(struct scaling *s, const struct record *in, struct fault *f)
{
	struct slice name = record_str(in, PutScalingPolicyRequest_PolicyName);
	struct autoscale_row *r = row_of(s);

	if (r == NULL)
		return fault_set(f, MSG_SCALING_TARGET, "registered", SLICE_FMT(s->of.id), SLICE_FMT(s->of.dimension));
	if (slice_present(r->policy) && !slice_eq(r->policy, name))
		return fault_set(f, MSG_SCALING_ONE_POLICY);
	r->policy = name;
	r->target = (uint32_t)record_double(&s->config, TargetTrackingScalingPolicyConfiguration_TargetValue, 0);
	r->in_cooldown_s = (uint32_t)record_int(&s->config, TargetTrackingScalingPolicyConfiguration_ScaleInCooldown, 0);
	r->out_cooldown_s = (uint32_t)record_int(&s->config, TargetTrackingScalingPolicyConfiguration_ScaleOutCooldown, 0);
	r->out_only = record_bool(&s->config, TargetTrackingScalingPolicyConfiguration_DisableScaleIn);
	return ERR_OK;
}

static enum err delete_policy(struct scaling *s, const struct record *in, struct fault *f)
{
	struct slice name = record_str(in, DeleteScalingPolicyRequest_PolicyName);
	struct autoscale_row *r = row_of(s);

	if (r == NULL || !slice_present(r->policy) || !slice_eq(r->policy, name))
		return fault_set(f, MSG_SCALING_POLICY, SLICE_FMT(s->of.id), SLICE_FMT(s->of.dimension), SLICE_FMT(name));
	r->policy = SLICE_NONE;
	r->target = 0;
	return ERR_OK;
}

/* The answer, which is empty but for PutScalingPolicy's. */
static enum err answer(struct store_write *w, const struct scaling *s, const struct store *st)
{
	const char *arn = w->req->op == OP_PutScalingPolicy ? scaling_policy_arn(st, s->edit.old, &s->of,
		record_str(&w->req->in, PutScalingPolicyRequest_PolicyName), w->req->arena) : "";
	unsigned n = 0;
	size_t at = record_begin(w->out);

	if (w->req->op == OP_PutScalingPolicy && arn != NULL) {
		record_key(w->out, &n, PutScalingPolicyResponse_Alarms);
		mp_put_array(w->out, 0);
		record_put_str(w->out, &n, PutScalingPolicyResponse_PolicyARN, slice_str(arn));
	}
	record_end(w->out, at, n);
	return w->out->failed || arn == NULL ? fault_set(&w->fault, MSG_NO_MEMORY) : ERR_OK;
}

static enum err scaling_apply(struct write_batch *b, struct store_write *w)
{
	struct scaling *s = w->plan->control;
	const struct catalog_table *ct = table_state_find(b->store, b->catalog, s->of.table);

	s->owner = ct != NULL ? autoscale_owner(&ct->table, s->of.index) : 0;
	if (s->owner == 0)
		return fault_set(&w->fault, MSG_SCALING_TABLE, SLICE_FMT(s->of.id));
	enum err rc = table_edit_begin(&s->edit, b, w, ct);

	if (rc == ERR_OK)
		rc = autoscale_rows_take(&s->edit, &s->rows, &w->fault);
	if (rc == ERR_OK)
		rc = s->change(s, &w->req->in, &w->fault);
	if (rc == ERR_OK)
		rc = answer(w, s, b->store);
	return table_edit_end(&s->edit, w, rc);
}

/* ---- on the worker ---- */

static enum err prepare(struct store_write *w, unsigned service, unsigned id, unsigned dimension, struct scaling **out)
{
	struct scaling *s = arena_zalloc(w->req->arena, sizeof *s);
	const struct record *in = &w->req->in;

	if (s == NULL)
		return fault_set(&w->fault, MSG_NO_MEMORY);
	w->plan->control = *out = s;
	w->plan->apply = scaling_apply;
	return scaling_resource_parse(record_str(in, service), record_str(in, id), record_str(in, dimension), &s->of, &w->fault);
}

static bool suspended(struct slice state)
{
	struct record r;

	if (!slice_present(state) || !record_open(&r, &shape_SuspendedState, state))
		return false;
	return record_bool(&r, SuspendedState_DynamicScalingInSuspended) || record_bool(&r, SuspendedState_DynamicScalingOutSuspended);
}

enum err register_target_prepare(struct store_reader *r, struct store_write *w)
{
	struct scaling *s;
	enum err rc = prepare(w, RegisterScalableTargetRequest_ServiceNamespace, RegisterScalableTargetRequest_ResourceId,
		RegisterScalableTargetRequest_ScalableDimension, &s);

	(void)r;
	if (rc != ERR_OK)
		return rc;
	s->change = register_target;
	return suspended(w->req->in.m[RegisterScalableTargetRequest_SuspendedState]) ? fault_set(&w->fault, MSG_SCALING_SUSPENDED)
		: ERR_OK;
}

enum err deregister_target_prepare(struct store_reader *r, struct store_write *w)
{
	struct scaling *s;
	enum err rc = prepare(w, DeregisterScalableTargetRequest_ServiceNamespace, DeregisterScalableTargetRequest_ResourceId,
		DeregisterScalableTargetRequest_ScalableDimension, &s);

	(void)r;
	if (rc == ERR_OK)
		s->change = deregister_target;
	return rc;
}

/* Target tracking of the use that is scaled, with whole percents. */
static enum err check_policy(const struct scaling *s, const struct record *in, struct fault *f)
{
	struct record metric;
	double target = record_double(&s->config, TargetTrackingScalingPolicyConfiguration_TargetValue, 0);
	struct slice of = s->config.m[TargetTrackingScalingPolicyConfiguration_PredefinedMetricSpecification];
	int64_t in_s = record_int(&s->config, TargetTrackingScalingPolicyConfiguration_ScaleInCooldown, 0);
	int64_t out_s = record_int(&s->config, TargetTrackingScalingPolicyConfiguration_ScaleOutCooldown, 0);

	if (record_has(in, PutScalingPolicyRequest_PolicyType)
	    && !record_is(in, PutScalingPolicyRequest_PolicyType, "TargetTrackingScaling"))
		return fault_set(f, MSG_SCALING_TRACKING);
	if (!slice_present(of) || !record_open(&metric, &shape_PredefinedMetricSpecification, of)
	    || !record_is(&metric, PredefinedMetricSpecification_PredefinedMetricType,
		s->of.use == METER_READ ? "DynamoDBReadCapacityUtilization" : "DynamoDBWriteCapacityUtilization"))
		return fault_set(f, MSG_SCALING_METRIC);
	if (target < AUTOSCALE_TARGET_LEAST || target > AUTOSCALE_TARGET_MOST || target != (double)(uint32_t)target)
		return fault_set(f, MSG_AUTOSCALE_TARGET, (unsigned)AUTOSCALE_TARGET_LEAST, (unsigned)AUTOSCALE_TARGET_MOST);
	return in_s < 0 || in_s > AUTOSCALE_COOLDOWN_MOST_S || out_s < 0 || out_s > AUTOSCALE_COOLDOWN_MOST_S
		? fault_set(f, MSG_AUTOSCALE_COOLDOWN, (unsigned)AUTOSCALE_COOLDOWN_MOST_S) : ERR_OK;
}

enum err put_policy_prepare(struct store_reader *r, struct store_write *w)
{
	struct slice config = w->req->in.m[PutScalingPolicyRequest_TargetTrackingScalingPolicyConfiguration];
	struct scaling *s;
	enum err rc = prepare(w, PutScalingPolicyRequest_ServiceNamespace, PutScalingPolicyRequest_ResourceId,
		PutScalingPolicyRequest_ScalableDimension, &s);

	(void)r;
	if (rc != ERR_OK)
		return rc;
	s->change = put_policy;
	if (!slice_present(config) || !record_open(&s->config, &shape_TargetTrackingScalingPolicyConfiguration, config))
		return fault_set(&w->fault, MSG_SCALING_TRACKING);
	return check_policy(s, &w->req->in, &w->fault);
}

enum err delete_policy_prepare(struct store_reader *r, struct store_write *w)
{
	struct scaling *s;
	enum err rc = prepare(w, DeleteScalingPolicyRequest_ServiceNamespace, DeleteScalingPolicyRequest_ResourceId,
		DeleteScalingPolicyRequest_ScalableDimension, &s);

	(void)r;
	if (rc == ERR_OK)
		s->change = delete_policy;
	return rc;
}
