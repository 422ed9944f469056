/* shapes_undef - forget the macros of shapes.def, so that it can be included with other meanings. */
#undef SHAPE_STRUCT
#undef MEMBER
#undef SHAPE_EMPTY
#undef SHAPE_STRING
#undef SHAPE_ENUM
#undef SHAPE_INT
#undef SHAPE_LONG
#undef SHAPE_DOUBLE
#undef SHAPE_TIMESTAMP
#undef SHAPE_BOOL
#undef SHAPE_BLOB
#undef SHAPE_LIST
#undef SHAPE_MAP
#undef SHAPE_ITEM
