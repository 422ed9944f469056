/* table_state - see table_state.h. */
#include "store/table_state.h"

#include "protocol/messages.h"

struct table_state table_state_begin(const struct store *s, enum table_status status, uint32_t index)
{
	if (s->table_delay_ms == 0)
		return (struct table_state){ .status = TABLE_ACTIVE };
	return (struct table_state){ .status = status, .until_ms = store_now_ms(s) + s->table_delay_ms, .index = index };
}

enum table_status table_state_now(const struct store *s, const struct catalog_table *t)
{
	const struct table_state *state = &t->facts.state;

	if (state->status == TABLE_ACTIVE)
		return TABLE_ACTIVE;
	if (store_now_ms(s) < state->until_ms)
		return state->status;
	return state->status == TABLE_DELETING ? TABLE_GONE : TABLE_ACTIVE;
}

const char *table_status_name(enum table_status status)
{
	static const char *const name[] = { [TABLE_ACTIVE] = "ACTIVE", [TABLE_CREATING] = "CREATING", [TABLE_UPDATING] = "UPDATING",
		[TABLE_DELETING] = "DELETING", [TABLE_GONE] = "DELETING" };

	return name[status];
}

bool table_state_creates_index(const struct store *s, const struct catalog_table *t, uint32_t index)
{
	return t->facts.state.index == index && table_state_now(s, t) == TABLE_UPDATING;
}

const struct catalog_table *table_state_find(const struct store *s, const struct catalog *c, struct slice name)
{
	const struct catalog_table *t = catalog_find(c, name);

	return t != NULL && !table_gone(s, t) ? t : NULL;
}

void table_states_end(struct catalog *c)
{
	for (size_t i = 0; i < c->n; i++)
		c->by_id[i]->facts.state.until_ms = 0;
}

/* While UPDATING the service has a text for each thing that is changed; this is the one that DeleteTable gets. */
enum err table_state_check(const struct store *s, const struct catalog_table *t, struct fault *f)
{
	switch (table_state_now(s, t)) {
	case TABLE_CREATING:
		return fault_set(f, MSG_TABLE_CREATING, SLICE_FMT(t->table.name));
	case TABLE_UPDATING:
		return fault_set(f, MSG_TABLE_UPDATING, SLICE_FMT(t->table.name));
	case TABLE_DELETING:
	case TABLE_GONE:
		return fault_set(f, MSG_TABLE_DELETING, SLICE_FMT(t->table.name));
	case TABLE_ACTIVE:
		break;
	}
	return ERR_OK;
}
