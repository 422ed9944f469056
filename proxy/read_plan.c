/* read_plan - see read_plan.h. */
#include "proxy/read_plan.h"

#include "protocol/expr_legacy.h"
#include "protocol/messages.h"
#include "proxy/worker.h"
#include "store/params.h"

static enum err check_parameters(const struct record *in, const struct read_members *ids, struct fault *f)
{
	const uint32_t expression[] = { ids->expression, PARAMS_END }, attributes[] = { ids->attributes, PARAMS_END };
	const uint32_t none[] = { PARAMS_END };
	const struct params p = { .expression = expression, .with_values = none, .names = ids->names, .values = PARAMS_END,
		.legacy = ids->attributes != READ_NO_MEMBER ? attributes : none };

	return params_check(in, &p, f);
}

static enum err bind_expression(struct read_plan *p, struct worker *w, const struct record *in,
	const struct read_members *ids, struct arena *a, struct fault *f)
{
	struct expr_env env;
	enum err rc = expr_env_init(&env, in->m[ids->names], SLICE_NONE, true, a, f);

	if (rc == ERR_OK)
		rc = expr_cache_parse(w->exprs, EXPR_PROJECTION, record_str(in, ids->expression), &p->expr, f);
	if (rc == ERR_OK)
		rc = projection_bind(p->expr, &env, &p->projection, f);
	return rc == ERR_OK ? expr_env_unused(&env, f) : rc;
}

enum err read_plan_bind(struct read_plan *p, struct worker *w, const struct request *req, const struct record *in,
	const struct read_members *ids, struct fault *f)
{
	struct arena *a = req->arena;
	enum err rc = check_parameters(in, ids, f);

	*p = (struct read_plan){ .expr = NULL };
	if (rc == ERR_OK)
		rc = request_check_values(req, VALUES_ITEM, f);
	if (rc != ERR_OK)
		return rc;
	if (record_has(in, ids->expression))
		rc = bind_expression(p, w, in, ids, a, f);
	else if (ids->attributes != READ_NO_MEMBER && record_has(in, ids->attributes))
		rc = legacy_attributes(in->m[ids->attributes], a, &p->projection, f);
	if (rc != ERR_OK)
		read_plan_release(p);
	return rc;
}

void read_plan_release(struct read_plan *p)
{
	if (p->expr != NULL)
		expr_unref(&p->expr);
}

void read_plan_put(const struct read_plan *p, struct slice item, struct buf *out)
{
	if (p->projection != NULL)
		projection_apply(p->projection, item, out);
	else
		buf_put_slice(out, item);
}

enum err read_table(struct worker *w, struct slice name, const struct table **t, struct fault *f)
{
	*t = w->backend->ops->table(w->reader, name);
	return *t != NULL ? ERR_OK : fault_set(f, MSG_TABLE_UNKNOWN);
}
