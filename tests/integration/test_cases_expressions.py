"""What users of DynamoDB's compatibles stumbled over in expressions, legacy parameters and return values."""

import contextlib

import pytest
from doors import NS, SS, Database, HttpDoor, N, definitions, index, item, values

TYPE = "Incorrect operand type for operator or function; operator or function: "
MISSING = "The provided expression refers to an attribute that does not exist in the item"
SCALARS = "Key attributes must be scalars; list random access '[]' and map lookup '.' are not allowed: "
FAILED = ("ConditionalCheckFailedException", "The conditional request failed")


@pytest.fixture(scope="module")
def plain(db):
    return db.create("S")


@pytest.fixture(scope="module")
def pair(db):
    return db.create("SS")


def fresh(db, table, pk, **attributes):
    db("DeleteItem", TableName=table, Key=item(pk=pk))
    if attributes:
        db.put(table, pk=pk, **attributes)


# ---- updates ----

M1 = {"m": {}}


@pytest.mark.parametrize("before, expression, v, after", [
    ({"a": "old", "n": 1}, "SET a = :v, b = a, n = n + :o, m = n", {"v": "new", "o": 1}, {"a": "new", "b": "old", "n": 2, "m": 1}),
    ({}, "SET c = (if_not_exists(c, :d) - :a)", {"d": 10000, "a": 1}, {"c": 9999}),
    ({"c": 9999}, "SET c = if_not_exists(c, :d)+:a", {"d": 0, "a": 5}, {"c": 10004}),
    ({}, "SET l = list_append(if_not_exists(l, :e), :n)", {"e": [], "n": ["1"]}, {"l": ["1"]}),
    ({"l": ["1"]}, "SET l = list_append(:n, l)", {"n": ["0"]}, {"l": ["0", "1"]}),
    ({"l": ["a", "b", "c"]}, "REMOVE l[0], l[1]", {}, {"l": ["c"]}),
    ({"l": ["a", "b", "c"]}, "REMOVE l[1], l[0], l[7]", {}, {"l": ["c"]}),
    ({"l": ["c"]}, "SET l[9] = :v", {"v": "z"}, {"l": ["c", "z"]}),
    ({"l": ["c"]}, "SET l[9] = :v, l[3] = :w", {"v": "z", "w": "y"}, {"l": ["c", "y", "z"]}),
    (M1, "SET m.a = :v", {"v": 1}, {"m": {"a": 1}}),
    (M1, "REMOVE m.a", {}, M1),
    ({}, "sEt a1 = :0_v rEmOvE a9_", {"0_v": 1}, {"a1": 1}),
    ({"a": 3, "b": "dog", "d": "foo"}, "REMOVE d SET b = :c ADD a :one", {"c": "cat", "one": 1}, {"a": 4, "b": "cat"}),
])
def test_updates(db, plain, before, expression, v, after):
    fresh(db, plain, "u", **before)
    assert db.update(plain, {"pk": "u"}, expression, **v) == item(pk="u", **after)
    assert db.get(plain, pk="u") == item(pk="u", **after)


def test_an_alias_is_one_name(db, plain):
    fresh(db, plain, "alias")
    got = db.update(plain, {"pk": "alias"}, "SET #_1 = :v", names={"#_1": "weird name.with[0]"}, v=1)
    assert got == {**item(pk="alias"), "weird name.with[0]": {"N": "1"}}


UPDATE = "Invalid UpdateExpression: "
OVERLAP = UPDATE + "Two document paths overlap with each other; must remove or rewrite one of these paths; "


@pytest.mark.parametrize("expression, v, text", [
    ("SET c = if_not_exists(c, :d + :a)", {"d": 0, "a": 5}, UPDATE + "Syntax error"),
    ("SET c = c + :a + :a", {"a": 5}, UPDATE + "Syntax error"),
    ("SET l = list_append(list_append(l, :n), :n)", {"n": ["0"]}, UPDATE + "The function is not allowed to be used this way in an "
     "expression; function: list_append"),
    ("SET l = list_append(l, :n)", {"n": {}}, UPDATE + TYPE + "list_append, operand type: M"),
    ("SET l = list_append(absent, :n)", {"n": []}, MISSING),
    ("SET x = absent", {}, MISSING),
    ("SET a.b = :v, a.b.c = :v", {"v": 1}, OVERLAP + "path one: [a, b], path two: [a, b, c]"),
    ("SET a.b = :v, a[1] = :v", {"v": 1}, "conflict"),
    ("REMOVE a SET b = :v REMOVE c", {"v": 1}, UPDATE + 'The "REMOVE" section can only be used once in an update expression;'),
    ("SET m.a.b = :v", {"v": 1}, "The document path provided in the update expression is invalid for update"),
    ("SET q.a = :v", {"v": 1}, "The document path provided in the update expression is invalid for update"),
    ("REMOVE q.a", {}, "The document path provided in the update expression is invalid for update"),
    ("SET Status = :v", {"v": 1}, UPDATE + "Attribute name is a reserved keyword; reserved keyword: Status"),
    ("SET a = :v", {"v": 1, "w": 2}, "Value provided in ExpressionAttributeValues unused in expressions: keys: {:w}"),
    ("SET a = :nope", {"v": 1}, UPDATE + "An expression attribute value used in expression is not defined; attribute value: :nope"),
    ("SET a = #nope", {}, UPDATE + "An expression attribute name used in the document path is not defined; attribute name: #nope"),
    ("", {}, UPDATE + "The expression can not be empty;"),
    ("ADD n :i", {"i": "1"}, UPDATE + "Incorrect operand type for operator or function; operator: ADD, operand type: STRING, "
     "typeSet: ALLOWED_FOR_ADD_OPERAND"),
    ("DELETE n :i", {"i": 1}, UPDATE + "Incorrect operand type for operator or function; operator: DELETE, operand type: NUMBER, "
     "typeSet: ALLOWED_FOR_DELETE_OPERAND"),
    ("ADD s :i", {"i": 1}, "An operand in the update expression has an incorrect data type"),
    ("DELETE s :i", {"i": SS("t")}, "An operand in the update expression has an incorrect data type"),
    ("SET s = s + :i", {"i": 1}, "An operand in the update expression has an incorrect data type"),
    ("SET _123 = :v", {"v": 1}, UPDATE + 'Syntax error; token: "_", near: "SET _123"'),
    ("SET a = f(b)", {}, UPDATE + "Invalid function name; function: f"),
    ('SET a = "q"', {}, UPDATE + "Syntax error"),
])
def test_updates_that_are_refused(db, plain, expression, v, text):
    fresh(db, plain, "no", m={}, s="t", l=["x"])
    before = db.get(plain, pk="no")
    more = {"ExpressionAttributeValues": values(**v)} if v else {}
    db.invalid(text, "UpdateItem", TableName=plain, Key=item(pk="no"), UpdateExpression=expression, **more)
    assert db.get(plain, pk="no") == before


def test_two_names_of_one_attribute_overlap(db, plain):
    db.invalid(OVERLAP + "path one: [a], path two: [a]", "UpdateItem", TableName=plain, Key=item(pk="x"),
               UpdateExpression="SET #p = :v REMOVE #q", ExpressionAttributeNames={"#p": "a", "#q": "a"},
               ExpressionAttributeValues=values(v=1))


def test_what_creates_an_item(db, plain):
    for pk, more in (("r", {"UpdateExpression": "REMOVE a"}), ("d", {"AttributeUpdates": {"a": {"Action": "DELETE"}}}), ("n", {}),
                     ("s", {"UpdateExpression": "DELETE a :v", "ExpressionAttributeValues": values(v=SS("x"))})):
        db("UpdateItem", TableName=plain, Key=item(pk=pk), **more)
    got = db("BatchGetItem", RequestItems={plain: {"Keys": [item(pk=p) for p in "rdns"], "ConsistentRead": True}})
    assert got["Responses"][plain] == [item(pk="n")]


# ---- conditions ----

CONDITION = "Invalid ConditionExpression: "


@pytest.mark.parametrize("condition, v, kind, text", [
    ("size(n) = :v", {"v": 1}, *FAILED),
    ("begins_with(n, :v)", {"v": "5"}, *FAILED),
    ("contains(n, :v)", {"v": "5"}, *FAILED),
    ("n < :v", {"v": "9"}, *FAILED),
    ("attribute_type(s, :v)", {"v": "N"}, *FAILED),
    ("a = :v" + " " * 4090, {"v": 1}, *FAILED),
    ("size(:v) = :v", {"v": 1}, "ValidationException", CONDITION + TYPE + "size, operand type: N"),
    ("size(s)", {}, "ValidationException", CONDITION + "The function is not allowed to be used this way in an expression; function: size"),
    ("attribute_type(s, :v)", {"v": "DOG"}, "ValidationException", "DOG"),
    ("contains(s, s)", {}, "ValidationException", CONDITION + "The first operand must be distinct from the remaining operands for this "
     "operator or function; operator: contains, first operand: [s]"),
    ("s < :v", {"v": []}, "ValidationException", CONDITION + TYPE + "<, operand type: L"),
    ("begins_with(s, :v)", {"v": 1}, "ValidationException", CONDITION + TYPE + "begins_with, operand type: N"),
    ("a = :v" + " " * 4091, {"v": 1}, "ValidationException", CONDITION + "Expression size has exceeded the maximum allowed size; "
     "expression size: 4097"),
    ("(" * 20000, {}, "ValidationException", CONDITION + "Expression size has exceeded the maximum allowed size; expression size: 20000"),
    (" or ".join(["a<b"] * 584), {}, "ValidationException", CONDITION + "The expression contains too many operators; operator count: 301"),
    ("not " * 1000 + "a < b", {}, "ValidationException", CONDITION + "The expression contains too many operators; operator count: 301"),
    ("((a < b))", {}, "ValidationException", CONDITION + "The expression has redundant parentheses"),
    ("(" * 2000, {}, "ValidationException", CONDITION),
    ("attribute_exists(name)", {}, "ValidationException", CONDITION + "Attribute name is a reserved keyword; reserved keyword: name"),
])
def test_conditions(db, plain, condition, v, kind, text):
    fresh(db, plain, "c", s="hello", n=5, l=[1])
    more = {"ExpressionAttributeValues": values(**v)} if v else {}
    db.refuse(kind, text, "PutItem", TableName=plain, Item=item(pk="c"), ConditionExpression=condition, **more)
    db.refuse(kind, text, "DeleteItem", TableName=plain, Key=item(pk="c"), ConditionExpression=condition, **more)
    assert db.get(plain, pk="c") == item(pk="c", s="hello", n=5, l=[1])


@pytest.mark.parametrize("operation, body, text", [
    ("UpdateItem", {"Key": item(pk="x"), "UpdateExpression": "SET a = :v", "ExpressionAttributeNames": {"#u": "u"},
                    "ExpressionAttributeValues": values(v=1)},
     "Value provided in ExpressionAttributeNames unused in expressions: keys: {#u}"),
    ("GetItem", {"Key": item(pk="x"), "ExpressionAttributeNames": {"#u": "u"}},
     "ExpressionAttributeNames can only be specified when using expressions"),
    ("PutItem", {"Item": item(pk="x"), "ConditionExpression": "a = :v", "ExpressionAttributeValues": {"v": {"N": "1"}}},
     'ExpressionAttributeValues contains invalid key: Syntax error; key: "v"'),
    ("Scan", {"FilterExpression": "a.name = :v", "ExpressionAttributeValues": values(v=1)},
     "Invalid FilterExpression: Attribute name is a reserved keyword; reserved keyword: name"),
    ("GetItem", {"Key": item(pk="x"), "ProjectionExpression": "size"},
     "Invalid ProjectionExpression: Attribute name is a reserved keyword; reserved keyword: size"),
    ("GetItem", {"Key": item(pk="x"), "ProjectionExpression": "a, a.b"},
     "Invalid ProjectionExpression: Two document paths overlap with each other"),
    ("GetItem", {"Key": item(pk="x"), "ProjectionExpression": "l[99999999999999]"},
     "Invalid ProjectionExpression: List index is not within the allowable range; index: [99999999999999]"),
    ("GetItem", {"Key": item(pk="x"), "ProjectionExpression": "l[-1]"}, "Invalid ProjectionExpression: Syntax error"),
    ("GetItem", {"Key": item(pk="x"), "ProjectionExpression": "pk.x"}, SCALARS + "Key: pk"),
    ("Scan", {"ProjectionExpression": "pk[0]"}, SCALARS + "Key: pk"),
    ("Scan", {"FilterExpression": "attribute_exists(pk[0])"}, SCALARS + "Key: pk"),
])
def test_other_mistakes(db, plain, operation, body, text):
    db.invalid(text, operation, TableName=plain, **body)


def test_texts_of_errors_are_json(db, plain):
    db.invalid('"\u0001\\', "PutItem", TableName=plain, Item=item(pk="x", n=N('"\u0001\\')))


def test_no_path_leads_into_a_key(db):
    table = db.create("S", AttributeDefinitions=definitions(pk="S", k="S"), GlobalSecondaryIndexes=[index("idx-k", "k")])
    key = {"TableName": table, "Key": item(pk="x")}
    into = {"ProjectionExpression": "k.x"}
    db.invalid(SCALARS + "IndexKey: k", "GetItem", **key, **into)
    db.invalid(SCALARS + "IndexKey: k", "BatchGetItem", RequestItems={table: {"Keys": [item(pk="x")], **into}})
    db.refuse("TransactionCanceledException", "[ValidationError]", "TransactGetItems", TransactItems=[{"Get": {**key, **into}}])
    db.invalid(SCALARS + "IndexKey: k", "UpdateItem", UpdateExpression="SET k.x = :v", ExpressionAttributeValues=values(v=1), **key)
    for name, kind in (("k", "IndexKey"), ("pk", "Key")):
        text, nested = f"{SCALARS}{kind}: {name}", {"ConditionExpression": f"attribute_not_exists({name}[0])"}
        for value in (f"{name}.x", f"a - {name}.x", f"if_not_exists({name}.x, a)", f"list_append(a, if_not_exists(b, {name}[0]))"):
            db.invalid(text, "UpdateItem", UpdateExpression=f"SET z = {value}", **key)
        db.invalid(text, "UpdateItem", UpdateExpression="SET a = pk", **nested, **key)
        db.invalid(text, "DeleteItem", **nested, **key)
        db.invalid(text, "PutItem", TableName=table, Item=item(pk="x"), **nested)
        db.invalid(text, "TransactWriteItems", TransactItems=[{"ConditionCheck": {**nested, **key}}])


# ---- projections and filters ----

def test_projections(db, plain):
    fresh(db, plain, "p", a={"b": 1, "c": 2}, z="q", l=["x"])
    key = {"TableName": plain, "Key": item(pk="p")}
    got = db("GetItem", ProjectionExpression=" #1 ,  #2.b ", ExpressionAttributeNames={"#1": "z", "#2": "a"}, **key)
    assert got["Item"] == item(z="q", a={"b": 1})
    for nothing in ("nothing", "l[7]", "a.nothing", "z.x"):
        assert db("GetItem", ProjectionExpression=nothing, **key) == {"Item": {}}
        assert db("TransactGetItems", TransactItems=[{"Get": {"ProjectionExpression": nothing, **key}}]) == {"Responses": [{}]}
    assert db("GetItem", TableName=plain, Key=item(pk="absent"), ProjectionExpression="nothing") == {}


def test_a_scan_filters_by_size_and_members(db):
    table = db.create("S")
    db.put(table, pk="x", s="hello", l=[1], u="\u00e9\U0001d11e")
    got = db("Scan", TableName=table, FilterExpression="contains(l, :v) AND size(s) = :five AND size(u) = :units",
             ExpressionAttributeValues=values(v=N("1.0"), five=5, units=3))
    assert got["Count"] == 1


def test_filters(db):
    table = db.create("SS")
    db.put(table, pk="a", sk="1", x=[])
    query = {"TableName": table, "KeyConditionExpression": "pk = :p"}
    db.invalid("Filter Expression can only contain non-primary key attributes: Primary key attribute: sk", "Query",
               FilterExpression="sk = :p", ExpressionAttributeValues=values(p="a"), **query)
    db.invalid("operator or function: <, operand type: L", "Query", FilterExpression="x < :l",
               ExpressionAttributeValues=values(p="a", l=[]), **query)
    got = db("Query", FilterExpression="x < :n", ExpressionAttributeValues=values(p="a", n=3), **query)
    assert (got["Count"], got["ScannedCount"]) == (0, 1)
    got = db("Scan", TableName=table, FilterExpression="sk = :s", ExpressionAttributeValues=values(s="1"))
    assert got["Count"] == 1


# ---- key conditions ----

@pytest.mark.parametrize("condition, v, found", [
    ("(#0 = :0) AND (begins_with (#1, :1))", {"0": "t", "1": "id#ab"}, ["id#ab"]),
    ("pk=:0 and(sk between:1 AND :2)", {"0": "t", "1": "id#ab", "2": "id#ab"}, ["id#ab"]),
    (":0 = pk", {"0": "t"}, ["id#aa", "id#ab"]),
    ("sk > :1 AND pk = :0", {"0": "t", "1": "id#aa"}, ["id#ab"]),
    (":1 < sk AND pk = :0", {"0": "t", "1": "id#aa"}, ["id#ab"]),
    ("((pk = :0) AND sk = :1)", {"0": "t", "1": "id#aa"}, ["id#aa"]),
])
def test_key_conditions(db, pair, condition, v, found):
    for sk in ("id#aa", "id#ab"):
        db.put(pair, pk="t", sk=sk)
    names = {"ExpressionAttributeNames": {"#0": "pk", "#1": "sk"}} if "#" in condition else {}
    got = db("Query", TableName=pair, KeyConditionExpression=condition, ExpressionAttributeValues=values(**v), **names)
    assert [x["sk"]["S"] for x in got["Items"]] == found


KEY_CONDITION = "Invalid KeyConditionExpression: "


@pytest.mark.parametrize("types, condition, v, text", [
    ("SS", "pk = :0 AND BEGINS_WITH(sk, :1)", {"0": "t", "1": "id"}, KEY_CONDITION + "Invalid function name; function: BEGINS_WITH"),
    ("SN", "pk = :p AND sk BETWEEN :a AND :b", {"p": "x", "a": 2, "b": 1},
     "The BETWEEN operator requires upper bound to be greater than or equal to lower bound"),
    ("SS", "sk = :s", {"s": "x"}, "Query condition missed key schema element: pk"),
    ("SS", "pk = :p AND ot = :s", {"p": "x", "s": "x"}, "Query condition missed key schema element: sk"),
    ("SS", "pk > :p", {"p": "x"}, "Query key condition not supported"),
    ("SS", "pk = :p AND sk > :a AND extra = :b", {"p": "x", "a": "x", "b": "x"},
     "The number of query conditions (3) exceeds the number of key attributes defined in the schema (2)"),
    ("SN", "pk = :p AND begins_with(sk, :s)", {"p": "x", "s": 1}, "begins_with, operand type: N"),
    ("SS", "pk = :p AND sk <> :s", {"p": "x", "s": "y"}, "Invalid operator used in KeyConditionExpression: <>"),
    ("SS", "pk = :p OR sk = :s", {"p": "x", "s": "y"}, "Invalid operator used in KeyConditionExpression: OR"),
    ("SS", "((pk = :p)) AND sk = :s", {"p": "x", "s": "y"}, KEY_CONDITION + "The expression has redundant parentheses"),
    ("SS", "pk = :p AND sk.x = :s", {"p": "x", "s": "y"}, "KeyConditionExpressions cannot have conditions on nested attributes"),
    ("SS", "pk = :p AND sk = :s", {"p": "x", "s": 1}, "One or more parameter values were invalid: Condition parameter type does not "
     "match schema type"),
])
def test_key_conditions_that_are_refused(db, types, condition, v, text):
    table = db.create(types)
    db.invalid(text, "Query", TableName=table, KeyConditionExpression=condition, ExpressionAttributeValues=values(**v))


# ---- legacy parameters ----

def test_attribute_updates_put_by_default(db, plain):
    fresh(db, plain, "l", a="old")
    got = db("UpdateItem", TableName=plain, Key=item(pk="l"), ReturnValues="ALL_NEW", AttributeUpdates={
        "a": {"Value": {"S": "new"}}, "b": {"Action": "ADD", "Value": {"N": "2"}}})
    assert got["Attributes"] == item(pk="l", a="new", b=2)


@pytest.mark.parametrize("expected, kind, text", [
    ({"Exists": True, "Value": {"N": "2"}}, *FAILED),
    ({"Value": {"N": "2"}}, *FAILED),
    ({"Exists": False}, *FAILED),
    ({"ComparisonOperator": "NULL"}, *FAILED),
    ({"Exists": True}, "ValidationException", "Value must be provided when Exists is true for Attribute: v"),
    ({"Exists": False, "Value": {"N": "1"}}, "ValidationException", "Value cannot be used when Exists is false for Attribute: v"),
    ({"ComparisonOperator": "LE", "AttributeValueList": [NS("1")]}, "ValidationException",
     "ComparisonOperator LE is not valid for NS AttributeValue type"),
])
def test_expected(db, plain, expected, kind, text):
    fresh(db, plain, "x", v=1)
    db.refuse(kind, text, "PutItem", TableName=plain, Item=item(pk="x"), Expected={"v": expected})
    assert db.get(plain, pk="x") == item(pk="x", v=1)


def test_expected_that_holds(db, plain):
    fresh(db, plain, "x", v=1)
    db("DeleteItem", TableName=plain, Key=item(pk="x"), ConditionalOperator="AND",
       Expected={"v": {"Value": {"N": "1.0"}}, "zz": {"Exists": False}})
    assert db.get(plain, pk="x") is None


def equal(name, v, operator="EQ"):
    return {name: {"ComparisonOperator": operator, "AttributeValueList": [{"S": v}]}}


MIXED = "Can not use both expression and non-expression parameters in the same request: Non-expression parameters: "


@pytest.mark.parametrize("operation, body, text", [
    ("UpdateItem", {"Key": item(pk="x", sk="1"), "UpdateExpression": "SET a = :v", "AttributeUpdates": {"b": {"Action": "DELETE"}},
                    "ExpressionAttributeValues": values(v=1)},
     MIXED + "{AttributeUpdates} Expression parameters: {UpdateExpression}"),
    ("GetItem", {"Key": item(pk="x", sk="1"), "AttributesToGet": []}, ""),
    ("GetItem", {"Key": item(pk="x", sk="1"), "AttributesToGet": ["a", "a"]},
     "One or more parameter values were invalid: Duplicate value in attribute name: a"),
    ("UpdateItem", {"Key": item(pk="x", sk="1"), "AttributeUpdates": {"a": {"Action": "DELETE"}}, "ConditionalOperator": "OR"}, ""),
    ("Query", {"KeyConditions": equal("pk", "a"), "KeyConditionExpression": "pk = :v", "ExpressionAttributeValues": values(v="a")},
     MIXED + "{KeyConditions} Expression parameters: {KeyConditionExpression}"),
    ("Query", {"KeyConditions": equal("pk", "a", "eq")}, "Member must satisfy enum value set"),
    ("Query", {"KeyConditions": {**equal("pk", "a"), **equal("sk", "1", "NE")}}, ""),
    ("Query", {"KeyConditions": equal("sk", "1")}, "Query condition missed key schema element: pk"),
])
def test_legacy_mistakes(db, pair, operation, body, text):
    db.invalid(text, operation, TableName=pair, **body)


# ---- requests with several mistakes: the one that the service tells of ----

NO_VALUE = {"a": {}}
FILTERED = {"a": {"ComparisonOperator": "EQ", "AttributeValueList": [{}]}}
EMPTY = "Supplied AttributeValue is empty"


@pytest.mark.parametrize("operation, body, text", [
    ("PutItem", {"Item": NO_VALUE, "Expected": NO_VALUE, "ConditionExpression": ""},
     MIXED + "{Expected} Expression parameters: {ConditionExpression}"),
    ("PutItem", {"Item": NO_VALUE, "Expected": NO_VALUE, "ExpressionAttributeNames": {}},
     "ExpressionAttributeNames can only be specified when using expressions"),
    ("PutItem", {"Item": NO_VALUE, "Expected": NO_VALUE, "ReturnValues": "ALL_NEW"}, EMPTY),
    ("PutItem", {"Item": item(pk="x"), "Expected": {"a": {"Value": {}}}, "ReturnValues": "ALL_NEW"}, "ReturnValues can only be"),
    ("PutItem", {"Item": item(pk="x"), "ConditionExpression": "", "ExpressionAttributeNames": {}, "ExpressionAttributeValues": {":v": {}}},
     "ExpressionAttributeNames must not be empty"),
    ("UpdateItem", {"Key": item(pk="x"), "UpdateExpression": "", "ExpressionAttributeValues": {":a": {}, "b": {}}},
     'ExpressionAttributeValues contains invalid key: Syntax error; key: "b"'),
    ("UpdateItem", {"Key": item(pk="x"), "UpdateExpression": "", "ExpressionAttributeValues": {":a": {}}},
     "ExpressionAttributeValues contains invalid value: " + EMPTY),
    ("UpdateItem", {"Key": item(pk="x"), "AttributeUpdates": {"a": {"Value": {}}}, "Expected": {"a": {}}}, EMPTY),
    ("PutItem", {"Item": item(pk="x"), "ConditionalOperator": "OR", "Expected": {"a": {"Exists": True}}}, "Value must be provided"),
    ("GetItem", {"Key": NO_VALUE, "AttributesToGet": ["a"], "ProjectionExpression": ""},
     MIXED + "{AttributesToGet} Expression parameters: {ProjectionExpression}"),
    ("GetItem", {"Key": NO_VALUE, "ProjectionExpression": ""}, EMPTY),
    ("Scan", {"AttributesToGet": ["a", "a"], "ScanFilter": FILTERED, "ExclusiveStartKey": NO_VALUE}, "Duplicate value in attribute name: a"),
    ("Scan", {"ScanFilter": FILTERED, "ExclusiveStartKey": {"a": {"N": "x"}}}, EMPTY),
    ("Scan", {"ExclusiveStartKey": NO_VALUE, "Segment": 1}, "The provided starting key is invalid: " + EMPTY),
    ("Scan", {"FilterExpression": "a =", "Select": "SPECIFIC_ATTRIBUTES"}, "Invalid FilterExpression: Syntax error"),
    ("Query", {"QueryFilter": FILTERED, "AttributesToGet": ["a", "a"], "ExclusiveStartKey": {"a": {"N": "x"}}}, EMPTY),
    ("Query", {"QueryFilter": {}, "AttributesToGet": ["a", "a"], "ExclusiveStartKey": NO_VALUE}, "Duplicate value in attribute name: a"),
    ("Query", {"KeyConditions": FILTERED, "ExclusiveStartKey": {"a": {"N": "x"}}}, "cannot be converted to a numeric value: x"),
    ("Query", {"KeyConditions": FILTERED, "FilterExpression": "a ="}, "Invalid FilterExpression: Syntax error"),
    ("Query", {"KeyConditionExpression": "attribute_exists(a)", "FilterExpression": "", "ProjectionExpression": ""},
     "Invalid FilterExpression: The expression can not be empty;"),
    ("Query", {"KeyConditionExpression": "attribute_exists(a)", "FilterExpression": "a > b", "ProjectionExpression": ""},
     "Invalid ProjectionExpression: The expression can not be empty;"),
    ("Query", {"KeyConditionExpression": "a > 4", "FilterExpression": ""}, "Invalid KeyConditionExpression: Syntax error"),
    ("Query", {"KeyConditionExpression": "attribute_exists(a)", "ExpressionAttributeNames": {"#u": "u"}}, "unused in expressions"),
    ("Query", {"KeyConditionExpression": "attribute_exists(a)", "Select": "SPECIFIC_ATTRIBUTES"}, "Invalid operator used in"),
])
def test_the_foremost_mistake(dynax, operation, body, text):
    """All come before the table is looked for. By HTTP alone: the client library looks at values before it sends anything."""
    with contextlib.closing(HttpDoor(dynax)) as door:
        Database(door, dynax).invalid(text, operation, TableName="absent", **body)


def test_many_values_in_a_list(db):
    table = db.create("S")
    db.put(table, pk="x", a=1)
    asked = {"a": {"ComparisonOperator": "IN", "AttributeValueList": [{"N": str(n)} for n in range(27500)]}}
    assert db("Scan", TableName=table, ScanFilter=asked)["Count"] == 1


def test_legacy_queries(db):
    table = db.create("SS")
    db.put(table, pk="a", sk="1", x=5)
    got = db("Query", TableName=table, KeyConditions={**equal("pk", "a"), **equal("sk", "1", "BEGINS_WITH")},
             QueryFilter={"x": {"ComparisonOperator": "GE", "AttributeValueList": [{"N": "5.00"}]}})
    assert got["Count"] == 1
    got = db("Query", TableName=table, KeyConditions=equal("pk", "a"), FilterExpression="x = :v",
             ExpressionAttributeValues=values(v=1))
    assert (got["Count"], got["ScannedCount"]) == (0, 1)


# ---- return values ----

def test_images_of_updates(db, plain):
    whole = dict(a=3, b="dog", d="foo")
    fresh(db, plain, "i", **whole)
    got = db("UpdateItem", TableName=plain, Key=item(pk="i"), ReturnValues="ALL_OLD",
             AttributeUpdates={"a": {"Action": "ADD", "Value": {"N": "2"}}})
    assert got["Attributes"] == item(pk="i", **whole)
    assert db.update(plain, {"pk": "i"}, "REMOVE d SET b = :c ADD a :one", c="cat", one=1) == item(pk="i", a=6, b="cat")
    assert db.update(plain, {"pk": "i"}, "SET a = :c", "UPDATED_OLD", c=1) == item(a=6)
    assert db.update(plain, {"pk": "i"}, "SET a = :c", "UPDATED_NEW", c=2) == item(a=2)
    assert db.update(plain, {"pk": "none"}, "SET q = :c", "ALL_OLD", c="cat") is None


def test_images_of_puts_and_deletes(db, plain):
    fresh(db, plain, "r")
    put = {"TableName": plain, "ReturnValues": "ALL_OLD"}
    assert db("PutItem", Item=item(pk="r", a=1), **put) == {}
    assert db("PutItem", Item=item(pk="r", a=2), **put) == {"Attributes": item(pk="r", a=1)}
    assert db("DeleteItem", Key=item(pk="never"), **put) == {}
    for operation, member, returns in (("PutItem", "Item", "ALL_NEW"), ("DeleteItem", "Key", "UPDATED_OLD")):
        db.invalid("ReturnValues can only be ALL_OLD or NONE", operation, TableName=plain, ReturnValues=returns,
                   **{member: item(pk="r")})


def test_the_item_that_failed_a_condition(db, plain):
    fresh(db, plain, "f", v=1)
    condition = {"TableName": plain, "ConditionExpression": "v = :v", "ExpressionAttributeValues": values(v=2)}
    asked = {"ReturnValuesOnConditionCheckFailure": "ALL_OLD", **condition}
    assert db.refuse(*FAILED, "PutItem", Item=item(pk="f", v=3), **asked).body["Item"] == item(pk="f", v=1)
    for more in ({"Key": item(pk="nobody"), **asked}, {"Key": item(pk="f"), **condition}):
        assert "Item" not in db.refuse(*FAILED, "DeleteItem", **more).body
