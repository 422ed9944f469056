/* child - see child.h. A child is a call whose door is this file: its finish() runs done, then drops it. */
#include "proxy/child.h"

#include "protocol/messages.h"

static void child_finish(struct call *call)
{
	struct child *c = call->door;

	c->done(c);
	call_drop(call); /* c may be gone */
}

/* There is no call to be had: `failed` stands in for it. */
static void child_without_call(struct child *c)
{
	struct call failed = { .req = { .op = OP_COUNT } };

	fault_set(&failed.fault, MSG_NO_MEMORY);
	c->call = &failed;
	c->done(c);
}

void child_run(struct child *c, struct call *parent, enum op op, struct slice record, const struct bound *bound)
{
	struct call *call = call_new(parent->worker);

	if (call == NULL) {
		child_without_call(c);
		return;
	}
	c->call = call;
	call->door = c;
	call->finish = child_finish;
	call->deadline_ns = parent->deadline_ns;
	if (request_open(&call->req, op, record, &call->arena, &call->fault) != ERR_OK) {
		call_fail(call);
		return;
	}
	call->req.bound = bound;
	dispatch_run(call);
}

void child_fault(const struct child *c, struct arena *a, struct fault *out)
{
	const struct fault *f = &c->call->fault;
	struct slice text = arena_copy(a, slice_str(f->text != NULL ? f->text : ""));

	fault_init(out, a);
	out->code = f->code;
	out->text = slice_present(text) ? (const char *)text.p : "";
	if (slice_present(f->detail))
		out->detail = arena_copy(a, f->detail);
}
