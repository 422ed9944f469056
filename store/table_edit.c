/* table_edit - see table_edit.h. */
#include "store/table_edit.h"

#include "protocol/messages.h"
#include "store/throughput.h"

enum err table_edit_begin(struct table_edit *e, struct write_batch *b, struct store_write *w, const struct catalog_table *t)
{
	e->old = t;
	e->spec = t->spec;
	e->arena = w->req->arena;
	write_txn_begin(&e->txn, b, e->arena);
	return control_draft(t, e->arena, &e->draft, &w->fault);
}

enum err table_edit_end(struct table_edit *e, struct store_write *w, enum err rc)
{
	struct catalog *next = NULL;

	if (rc == ERR_OK) {
		e->draft.spec = control_spec_put(&e->spec, e->arena);
		rc = slice_present(e->draft.spec) ? control_put_table(&e->txn, &e->draft, &next, &w->fault)
			: fault_set(&w->fault, MSG_NO_MEMORY);
	}
	throughput_settle(e->txn.batch->store, &e->old->table);
	return control_end(&e->txn, &next, rc, &w->fault);
}
