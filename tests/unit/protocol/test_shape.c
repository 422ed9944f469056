/* test_shape - the tables: spot checks against the API's documentation (tests/integration/test_model.py compares all). */
#include <criterion/criterion.h>

#include "protocol/op.h"

Test(shape, members_point_at_their_shapes)
{
	const struct shape *s = &shape_GetItemInput;

	cr_assert_str_eq(s->name, "GetItemInput");
	cr_assert_eq(s->kind, SHAPE_KIND_STRUCT);
	cr_assert_eq(s->members, GetItemInput_MEMBERS);
	cr_assert_str_eq(s->member[GetItemInput_Key].name, "Key");
	cr_assert_eq(s->member[GetItemInput_Key].shape, &shape_Key);
	cr_assert(s->member[GetItemInput_Key].required);
	cr_assert_not(s->member[GetItemInput_ConsistentRead].required);
	cr_assert_eq(shape_Key.element, &shape_AttributeValue);
	cr_assert_eq(shape_KeyList.min, 1);
	cr_assert_eq(shape_KeyList.max, 100);
	cr_assert_str_eq(shape_TableName.pattern, "[a-zA-Z0-9_.-]+");
	cr_assert_eq(shape_EmptyOutput.members, 0);
}

Test(shape, member_by_name)
{
	cr_assert_eq(shape_member_id(&shape_GetItemInput, SLICE_LIT("TableName")), GetItemInput_TableName);
	cr_assert_eq(shape_member_id(&shape_GetItemInput, SLICE_LIT("tableName")), -1);
	cr_assert_eq(shape_member_id(&shape_GetItemInput, SLICE_LIT("TableNam")), -1);
	cr_assert_eq(shape_member_id(&shape_GetItemInput, SLICE_LIT("")), -1);
	cr_assert_eq(shape_member_id(&shape_DescribeLimitsInput, SLICE_LIT("x")), -1);
}

static void every_member_is_complete(const struct shape *s, unsigned depth)
{
	cr_assert_leq(s->members, RECORD_MEMBERS_MAX);
	cr_assert_lt(depth, 12u, "%s nests deeper than the JSON reader's frames", s->name);
	if (s->kind == SHAPE_KIND_LIST || s->kind == SHAPE_KIND_MAP)
		every_member_is_complete(s->element, depth + 1);
	for (unsigned i = 0; i < s->members; i++) {
		cr_assert_eq(s->member[i].name_len, strlen(s->member[i].name));
		cr_assert_eq(shape_member_id(s, slice_str(s->member[i].name)), (int)i);
		every_member_is_complete(s->member[i].shape, depth + 1);
	}
}

Test(shape, all_operations_shapes)
{
	for (unsigned op = 0; op < OP_COUNT; op++) {
		every_member_is_complete(op_info[op].in, 0);
		every_member_is_complete(op_info[op].out, 0);
	}
}
