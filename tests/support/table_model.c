/* table_model - see table_model.h. */
#include "tests/support/table_model.h"

#include <stdio.h>

void model_json(int p, int r, const struct model_item *x, char out[MODEL_ITEM_TEXT])
{
	size_t n = 0;

	n += (size_t)snprintf(out + n, MODEL_ITEM_TEXT - n, "{");
	if (x->group >= 0)
		n += (size_t)snprintf(out + n, MODEL_ITEM_TEXT - n, "\"g\":{\"S\":\"g%d\"},", x->group);
	if (x->pad > 0)
		n += (size_t)snprintf(out + n, MODEL_ITEM_TEXT - n, "\"pad\":{\"S\":\"%.*s\"},", x->pad,
			"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx");
	snprintf(out + n, MODEL_ITEM_TEXT - n, "\"pk\":{\"S\":\"p%d\"},\"sk\":{\"N\":\"%d\"},\"v\":{\"N\":\"%d\"}}", p, r, x->v);
}

void model_item_json(const struct table_model *m, int p, int r, char out[MODEL_ITEM_TEXT])
{
	model_json(p, r, &m->item[p][r], out);
}

size_t model_count(const struct table_model *m)
{
	size_t n = 0;

	for (int p = 0; p < MODEL_PARTITIONS; p++)
		for (int r = 0; r < MODEL_ROWS; r++)
			n += m->item[p][r].exists;
	return n;
}
