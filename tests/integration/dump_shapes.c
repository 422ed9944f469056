/* dump_shapes - the shape tables as JSON, for test_model.py, which compiles and runs this. */
#include <stdio.h>

#include "protocol/op.h"

static const char *const kind_name[] = {
	[SHAPE_KIND_STRUCT] = "structure", [SHAPE_KIND_LIST] = "list",     [SHAPE_KIND_MAP] = "map",
	[SHAPE_KIND_STRING] = "string",    [SHAPE_KIND_ENUM] = "enum",     [SHAPE_KIND_INT] = "integer",
	[SHAPE_KIND_LONG] = "long",        [SHAPE_KIND_DOUBLE] = "double", [SHAPE_KIND_TIMESTAMP] = "timestamp",
	[SHAPE_KIND_BOOL] = "boolean",     [SHAPE_KIND_BLOB] = "blob",     [SHAPE_KIND_VALUE] = "value",
	[SHAPE_KIND_ITEM] = "item",
};

static void dump(const struct shape *s)
{
	printf("%s\"%s\":{\"kind\":\"%s\",\"min\":%lld,\"max\":%lld", s == &shape_AttributeValue ? "" : ",", s->name,
	       kind_name[s->kind], (long long)s->min, (long long)s->max);
	if (s->pattern != NULL)
		printf(",\"pattern\":\"%s\"", s->pattern);
	if (s->key != NULL)
		printf(",\"key\":\"%s\"", s->key->name);
	if (s->element != NULL)
		printf(",\"element\":\"%s\"", s->element->name);
	printf(",\"values\":[");
	for (const char *const *v = s->values; v != NULL && *v != NULL; v++)
		printf("%s\"%s\"", v == s->values ? "" : ",", *v);
	printf("],\"members\":{");
	for (unsigned i = 0; i < s->members; i++)
		printf("%s\"%s\":{\"shape\":\"%s\",\"required\":%s}", i == 0 ? "" : ",", s->member[i].name,
		       s->member[i].shape->name, s->member[i].required ? "true" : "false");
	printf("}}\n");
}

int main(void)
{
	static const char *const service[] = { [OP_DYNAMODB] = "dynamodb", [OP_STREAMS] = "dynamodbstreams",
		[OP_SCALING] = "application-autoscaling" };

	printf("{\"operations\":{\n");
	for (unsigned i = 0; i < OP_COUNT; i++)
		printf("%s\"%s\":{\"in\":\"%s\",\"out\":\"%s\",\"service\":\"%s\"}\n", i == 0 ? "" : ",", op_info[i].name,
		       op_info[i].in->name, op_info[i].out->name, service[op_info[i].service]);
	printf("},\"shapes\":{\n");
	dump(&shape_AttributeValue);
#define SHAPE_OTHER(name) dump(&shape_##name);
#include "protocol/shapes.def"
	printf("}}\n");
	return 0;
}
