"""PartiQL through both doors: statements of every kind, their rows, pages, capacity and complaints, cold and warm."""

import json
import os

import pytest

import doors
from daemon import Daemon

HASH, PAIR, INDEXED = "pq-hash", "pq-pair", "pq-indexed"
MALFORMED = "Statement wasn't well formed, can't be processed: "


def attribute(name, kind="S"):
    return {"AttributeName": name, "AttributeType": kind}


def key(hash_name, range_name=None):
    names = [(hash_name, "HASH")] + ([(range_name, "RANGE")] if range_name else [])
    return [{"AttributeName": n, "KeyType": t} for n, t in names]


class ClientError(Exception):
    def __init__(self, code, message, body):
        super().__init__(f"{code}: {message}")
        self.response = {**body, "Error": {"Code": code, "Message": message}}


class Client:
    """boto3's way to call, behind either door: it knows every member."""

    def __init__(self, door):
        self.door = door

    def __getattr__(self, name):
        operation = "".join(word.capitalize() for word in name.split("_"))

        def call(**body):
            try:
                return self.door.call(operation, json.dumps(body))
            except doors.Refused as r:
                raise ClientError(r.kind, r.text, r.body) from None
        return call


@pytest.fixture(scope="module", params=["http", "msgpack"])
def ddb(request):
    if request.param == "msgpack" and not os.path.exists(doors.LIBRARY):
        pytest.skip("no libdynax.so to speak msgpack with")
    with Daemon() as daemon:
        door = (doors.HttpDoor if request.param == "http" else doors.MsgpackDoor)(daemon)
        yield Client(door)
        door.close()
        status = daemon.stop()
        assert status == 0, daemon.stderr()


@pytest.fixture(scope="module")
def db(ddb):
    ddb.create_table(TableName=HASH, BillingMode="PAY_PER_REQUEST", AttributeDefinitions=[attribute("pk")],
                     KeySchema=key("pk"))
    ddb.create_table(TableName=PAIR, BillingMode="PAY_PER_REQUEST", KeySchema=key("pk", "sk"),
                     AttributeDefinitions=[attribute("pk"), attribute("sk", "N")])
    ddb.create_table(
        TableName=INDEXED, BillingMode="PAY_PER_REQUEST", KeySchema=key("pk", "sk"),
        AttributeDefinitions=[attribute(n) for n in ("pk", "sk", "g", "l", "h1", "h2")],
        GlobalSecondaryIndexes=[
            {"IndexName": "by-g", "KeySchema": key("g"),
             "Projection": {"ProjectionType": "INCLUDE", "NonKeyAttributes": ["held"]}},
            {"IndexName": "multi", "Projection": {"ProjectionType": "ALL"},
             "KeySchema": [{"AttributeName": "h1", "KeyType": "HASH"}, {"AttributeName": "h2", "KeyType": "HASH"}]}],
        LocalSecondaryIndexes=[{"IndexName": "by-l", "KeySchema": key("pk", "l"),
                                "Projection": {"ProjectionType": "KEYS_ONLY"}}])
    return ddb


def run(db, statement, parameters=None, **more):
    if parameters is not None:
        more["Parameters"] = parameters
    return db.execute_statement(Statement=statement, **more)


def rows(db, statement, parameters=None, **more):
    return run(db, statement, parameters, **more)["Items"]


def refused(call, code="ValidationException"):
    with pytest.raises(ClientError) as failure:
        call()
    assert failure.value.response["Error"]["Code"] in ([code] if isinstance(code, str) else code), failure.value
    return failure.value.response["Error"]["Message"]


def put(db, table, **item):
    db.put_item(TableName=table, Item=item)


def S(s):
    return {"S": s}


def N(n):
    return {"N": str(n)}


# ---- INSERT ----

def test_insert_every_literal(db):
    run(db, f"""INSERT INTO "{HASH}" VALUE {{'pk': 'literals', 's': 'it''s', 'n': -1.50e2, 'half': .5, 't': true, 'f': false,
        'nul': null, 'l': [1, 'two', [3]], 'm': {{'a': {{'b': 1}}}}, 'ss': <<'b', 'a'>>, 'ns': <<2, 1>>}}""")
    item = db.get_item(TableName=HASH, Key={"pk": S("literals")})["Item"]
    assert item["s"] == S("it's") and item["n"] == N(-150) and item["half"] == N(0.5)
    assert item["t"] == {"BOOL": True} and item["f"] == {"BOOL": False} and item["nul"] == {"NULL": True}
    assert item["l"] == {"L": [N(1), S("two"), {"L": [N(3)]}]} and item["m"] == {"M": {"a": {"M": {"b": N(1)}}}}
    assert sorted(item["ss"]["SS"]) == ["a", "b"] and sorted(item["ns"]["NS"]) == ["1", "2"]


def test_insert_is_no_upsert(db):
    statement = f"INSERT INTO \"{HASH}\" VALUE {{'pk': ?, 'v': ?}}"
    assert run(db, statement, [S("once"), N(1)])["Items"] == []
    assert refused(lambda: run(db, statement, [S("once"), N(2)]), "DuplicateItemException") == \
        "Duplicate primary key exists in table"
    assert rows(db, f"SELECT v FROM \"{HASH}\" WHERE pk = 'once'") == [{"v": N(1)}]


# ---- SELECT ----

@pytest.fixture(scope="module")
def pairs(db):
    for pk in "ab":
        for sk in range(1, 6):
            put(db, PAIR, pk=S(pk), sk=N(sk), flag=S("odd" if sk % 2 else "even"), m={"M": {"x": {"L": [N(sk), S("z")]}}})
    return db


def sks(items):
    return [int(i["sk"]["N"]) for i in items]


@pytest.mark.parametrize("where,expected", [
    ("pk = 'a'", [1, 2, 3, 4, 5]), ("pk = 'a' AND sk = 3", [3]), ("pk = 'a' AND sk > 3", [4, 5]), ("pk = 'a' AND 3 > sk", [1, 2]),
    ("pk = 'a' AND sk BETWEEN 2 AND 4", [2, 3, 4]), ("pk = 'a' AND sk IN [5, 1]", [1, 5]), ("pk = 'a' AND sk <> 3", [1, 2, 4, 5]),
    ("pk = 'a' AND NOT sk IN [1, 2]", [3, 4, 5]), ("pk = 'a' AND sk NOT BETWEEN 2 AND 4", [1, 5]),
    ("pk = 'a' AND (sk = 1 OR sk = 4)", [1, 4]), ("pk = 'a' AND flag = 'odd'", [1, 3, 5]),
    ("pk = 'a' AND sk > 1 AND sk < 4", [2, 3]), ("pk = 'a' AND sk >= 2 AND sk = 2", [2]), ("pk = 'a' AND sk = 1 AND sk = 2", []),
    ("pk = 'a' AND m.x[0] = 2", [2]), ("pk = 'a' AND contains(m.x, 'z') AND size(m.x) = 2", [1, 2, 3, 4, 5]),
    ("pk = 'a' AND begins_with(flag, 'ev')", [2, 4]), ("pk = 'a' AND attribute_type(flag, 'S') AND flag IS STRING", [1, 2, 3, 4, 5]),
    ("pk = 'a' AND nope IS MISSING", [1, 2, 3, 4, 5]), ("pk = 'a' AND nope IS NOT MISSING", []),
    ("pk = 'a' AND flag IS NOT NULL", [1, 2, 3, 4, 5]), ("pk = 'a' AND (sk = 2) = true", [2]),
    ("pk = 'a' AND attribute_exists(nope) = attribute_exists(other)", [1, 2, 3, 4, 5]),
    ("(sk < 3) = false AND pk = 'a'", [3, 4, 5]), ("pk = 'a' AND sk = 1 OR pk = 'b' AND sk = 2", [1, 2]),
    ("pk IN ['b', 'a'] AND sk = 1", [1, 1]), ("pk IN ('a') AND sk IN (2, 1)", [1, 2]), ("pk = 'a' AND pk = 'b'", []), ("pk = 'a' AND sk = - - 3", [3]),
    # branches that overlap because of a negation are read as one
    ("pk = 'a' AND sk <> 3 OR pk = 'a' AND sk = 4", [1, 2, 4, 5]), ("pk = 'a' AND NOT sk > 2 OR pk = 'a' AND sk IN [5, 1]", [1, 2, 5]),
    ("pk = 'a' OR pk = 'a' AND NOT sk = 1", [1, 2, 3, 4, 5]), ("pk = 'b' AND sk = 2 OR pk = 'a' AND sk NOT BETWEEN 2 AND 5 OR pk = 'a' AND sk >= 5", [1, 5, 2]),
])
def test_where(pairs, where, expected):
    statement = f'SELECT * FROM "{PAIR}" WHERE {where}'
    for _ in range(2):     # cold, and from the caches
        assert sks(rows(pairs, statement)) == expected


@pytest.mark.parametrize("where,expected", [
    ("sk = 1", 2), ("pk > 'a'", 5), ("flag = 'even'", 4), ("pk = 'a' OR flag = 'even'", 7), ("begins_with(pk, 'b') OR sk = 2", 6)])
def test_whole_table(pairs, where, expected):
    assert len(rows(pairs, f'SELECT * FROM "{PAIR}" WHERE {where}')) == expected


def test_columns(pairs):
    select = f"FROM \"{PAIR}\" WHERE pk = 'a' AND sk = 2"
    assert rows(pairs, f"SELECT sk, m.x[0], flag {select}") == [{"sk": N(2), "x[0]": N(2), "flag": S("even")}]
    assert rows(pairs, f"SELECT sk, m.x {select}") == [{"sk": N(2), "x": {"L": [N(2), S("z")]}}]
    assert rows(pairs, f"SELECT nope {select}") == [{}]
    assert rows(pairs, f'select "sk" {select}; -- a comment') == [{"sk": N(2)}]


def test_order(pairs):
    select = f'SELECT * FROM "{PAIR}" WHERE '
    assert sks(rows(pairs, select + "pk = 'a' ORDER BY sk DESC")) == [5, 4, 3, 2, 1]
    assert sks(rows(pairs, select + "pk = 'a' AND sk IN [4, 2] ORDER BY sk DESC")) == [4, 2]
    got = rows(pairs, select + "pk IN ['a', 'b'] AND sk > 3 ORDER BY pk DESC, sk ASC")
    assert [(i["pk"]["S"], i["sk"]["N"]) for i in got] == [("b", "4"), ("b", "5"), ("a", "4"), ("a", "5")]
    got = rows(pairs, select + "pk IN ['a', 'b'] AND sk > 3 ORDER BY pk, sk DESC")
    assert [(i["pk"]["S"], i["sk"]["N"]) for i in got] == [("a", "5"), ("a", "4"), ("b", "5"), ("b", "4")]


@pytest.mark.parametrize("where", ["", "WHERE pk = 'a'", "WHERE pk IN ['a', 'b']", "WHERE pk = 'a' AND sk IN [1, 2, 3, 4]",
                                   "WHERE flag = 'odd'", "WHERE pk = 'a' ORDER BY sk DESC"])
def test_pages(pairs, where):
    statement, got, token, pages = f'SELECT * FROM "{PAIR}" {where}', [], {}, 0
    whole = rows(pairs, statement)
    while True:
        page = run(pairs, statement, Limit=2, **token)
        assert len(page["Items"]) <= 2
        got += page["Items"]
        pages += 1
        if "NextToken" not in page:
            break
        token = {"NextToken": page["NextToken"]}
    assert got == whole and pages >= len(whole) // 2
    assert refused(lambda: run(pairs, statement + " ", **token)) == "NextToken does not match request"
    assert refused(lambda: run(pairs, statement, NextToken="AAAA")) == "Invalid NextToken"


def test_capacity(pairs):
    one = f"SELECT * FROM \"{PAIR}\" WHERE pk = 'a' AND sk = 1"
    for _ in range(2):
        assert run(pairs, one, ReturnConsumedCapacity="TOTAL")["ConsumedCapacity"] == {"TableName": PAIR, "CapacityUnits": 0.5}
        assert run(pairs, one, ConsistentRead=True, ReturnConsumedCapacity="INDEXES")["ConsumedCapacity"] == \
            {"TableName": PAIR, "CapacityUnits": 1.0, "Table": {"CapacityUnits": 1.0}}
        two = run(pairs, f"SELECT * FROM \"{PAIR}\" WHERE pk IN ['a', 'b']", ReturnConsumedCapacity="TOTAL")
        assert two["ConsumedCapacity"]["CapacityUnits"] == 1.0
    write = run(pairs, f"UPDATE \"{PAIR}\" SET touched = 1 WHERE pk = 'a' AND sk = 1", ReturnConsumedCapacity="TOTAL")
    assert write["ConsumedCapacity"] == {"TableName": PAIR, "CapacityUnits": 1.0}


def test_never_stale(db):
    statement = f"SELECT v FROM \"{HASH}\" WHERE pk = 'fresh'"
    for i in range(20):
        put(db, HASH, pk=S("fresh"), v=N(i))
        assert rows(db, statement) == [{"v": N(i)}] and rows(db, statement) == [{"v": N(i)}]
        assert rows(db, f"SELECT v FROM \"{HASH}\" WHERE pk = 'fresh' AND v = {i}") == [{"v": N(i)}]


# ---- indexes ----

def test_indexes(db):
    put(db, INDEXED, pk=S("p"), sk=S("1"), g=S("G"), l=S("L"), held=S("yes"), other=S("no"), h1=S("x"), h2=S("y"))
    table = f'"{INDEXED}"'
    assert rows(db, f"SELECT * FROM {table}.\"by-g\" WHERE g = 'G'") == [{"pk": S("p"), "sk": S("1"), "g": S("G"), "held": S("yes")}]
    assert rows(db, f"SELECT held FROM {table}.\"by-g\" WHERE pk = 'p'") == [{"held": S("yes")}]
    assert rows(db, f"SELECT other FROM {table}.\"by-l\" WHERE pk = 'p' AND l = 'L'", ConsistentRead=True) == [{"other": S("no")}]
    assert refused(lambda: run(db, f"SELECT other FROM {table}.\"by-g\" WHERE g = 'G'")) == \
        "One or more parameter values were invalid: Global secondary index by-g does not project [other]"
    assert refused(lambda: run(db, f"SELECT pk FROM {table}.\"by-g\" WHERE g = 'G' AND other = 'no'")) == \
        "One or more parameter values were invalid: Secondary index by-g does not project one or more filter attributes: [other]"
    assert refused(lambda: run(db, f"SELECT * FROM {table}.\"by-g\" WHERE g = 'G'", ConsistentRead=True)) == \
        "Strongly consistent read is not supported on Global Secondary Indexes"
    assert refused(lambda: run(db, f"SELECT * FROM {table}.\"multi\" WHERE h1 = 'x'")) == \
        "PartiQL statements cannot be executed on tables with multi-attribute HASH keys or multi-attribute RANGE keys."
    assert refused(lambda: run(db, f'SELECT * FROM {table}."none"')) == "The table does not have the specified index"
    assert rows(db, f"SELECT pk FROM {table}.\"by-g\" WHERE g = 'G' AND other = 'no' OR g = 'H'") == []
    got = run(db, f"SELECT pk FROM {table}.\"by-g\" WHERE g = 'G'", ReturnConsumedCapacity="INDEXES")["ConsumedCapacity"]
    assert got["GlobalSecondaryIndexes"] == {"by-g": {"CapacityUnits": 0.5}} and got["CapacityUnits"] == 0.5


# ---- UPDATE and DELETE ----

def test_update(db):
    put(db, HASH, pk=S("u"), n=N(1), l={"L": [S("a")]}, ss={"SS": ["a", "b"]}, m={"M": {"k": S("v")}}, gone=S("x"))
    where = "WHERE pk = 'u'"
    run(db, f"""UPDATE "{HASH}" SET n = n + 5, l = list_append(l, ['b']), ss = set_add(ss, <<'c'>>) SET m.k = 'w'
        REMOVE gone {where}""")
    assert rows(db, f'SELECT * FROM "{HASH}" {where}')[0] == {
        "pk": S("u"), "n": N(6), "l": {"L": [S("a"), S("b")]}, "ss": {"SS": ["a", "b", "c"]}, "m": {"M": {"k": S("w")}}}
    run(db, f"UPDATE \"{HASH}\" SET ss = SET_DELETE(ss, <<'a', 'b', 'c'>>), z = if_not_exists(z, 7) {where}")
    assert rows(db, f'SELECT ss, z FROM "{HASH}" {where}') == [{"z": N(7)}]
    run(db, f"FROM \"{HASH}\" {where} SET z = ? REMOVE n", [N(8)])
    assert rows(db, f'SELECT n, z FROM "{HASH}" {where}') == [{"z": N(8)}]


@pytest.mark.parametrize("clause,expected", [
    ("ALL OLD *", {"pk": S("r"), "a": N(1), "b": N(2)}), ("ALL NEW *", {"pk": S("r"), "a": N(9), "b": N(2)}),
    ("MODIFIED OLD *", {"a": N(1)}), ("MODIFIED NEW *", {"a": N(9)})])
def test_returning(db, clause, expected):
    put(db, HASH, pk=S("r"), a=N(1), b=N(2))
    assert rows(db, f"UPDATE \"{HASH}\" SET a = 9 WHERE pk = 'r' RETURNING {clause}") == [expected]


def test_update_is_a_condition(db):
    put(db, HASH, pk=S("c"), a=N(1))
    update = f'UPDATE "{HASH}" SET b = 1 WHERE pk = '
    with pytest.raises(ClientError) as failure:
        run(db, update + "'c' AND a = 2", ReturnValuesOnConditionCheckFailure="ALL_OLD")
    answer = failure.value.response
    assert answer["Error"]["Code"] == "ConditionalCheckFailedException"
    assert answer["Item"] == {"pk": S("c"), "a": N(1)}
    refused(lambda: run(db, update + "'not there'"), "ConditionalCheckFailedException")
    refused(lambda: run(db, update + "'not there' AND attribute_not_exists(pk)"), "ConditionalCheckFailedException")
    assert run(db, update + "'c' AND a = 1 RETURNING MODIFIED OLD *")["Items"] == []


def test_delete(db):
    put(db, HASH, pk=S("d"), a=N(1))
    delete = f'DELETE FROM "{HASH}" WHERE pk = '
    refused(lambda: run(db, delete + "'d' AND a = 2"), "ConditionalCheckFailedException")
    assert rows(db, delete + "'d' AND a = 1 RETURNING ALL OLD *") == [{"pk": S("d"), "a": N(1)}]
    assert rows(db, delete + "'d' RETURNING ALL OLD *") == [] and rows(db, delete + "'d' AND a = 2") == []


# ---- complaints ----

@pytest.mark.parametrize("statement,detail", [
    ("SLECT * FROM {t}", "Expected data manipulation"), ("SELECT * FROM", "Unexpected term"), ("SELECT * {t}", "Expected FROM after SELECT list"),
    ("SELECT * FROM {t} WHERE", "Unexpected term"), ("SELECT * FROM {t} WHERE;", "Unexpected term"),
    ("SELECT * FROM {t} WHERE pk = 'a' AND", "Missing right-hand side expression of infix operator"),
    ("SELECT * FROM {t} WHERE pk = 'a' foo", "Unexpected token after expression"), ("SELECT * FROM {t} WHERE ORDER BY pk", "Unexpected keyword"),
    ("SELECT * FROM {t} WHERE IS NULL", "Unexpected operator"), ("SELECT * FROM {t} WHERE pk = LIKE", "Unexpected operator"),
    ("SELECT * FROM {t} WHERE x IS FOO", "Expected type name"), ("SELECT * FROM {t} WHERE a.inner = 1", "Invalid path dot component"),
    ("SELECT * FROM {t} WHERE pk = 1 # x", ""), ("SELECT * FROM {t} /* open", ""), ("SELECT * FROM {t} WHERE pk = 'open", ""),
    ("SELECT * FROM {t} WHERE pk = 1e2147483648", ""), ("DELETE FROM", "Expected identifier for simple path"),
    ("UPDATE {t} SET a.inner = 1 WHERE pk = 'a'", "Invalid path dot component"),
    ("DELETE {t}", "Expected FROM after DELETE"), ("UPDATE {t} SET a = 1, WHERE pk = 'a'", "Expected identifier for simple path"),
    ("UPDATE {t} SET a WHERE pk = 'a'", "Expected '='"), ("UPDATE {t} WHERE pk = 'a'", "Expected data manipulation"),
    ("UPDATE {t} SET a = 1 WHERE pk = 'a' RETURNING ALL", "Expected ( MODIFIED | ALL ) ( NEW | OLD ) in each returning element."),
    ("INSERT INTO {t} VALUE {{'pk' 1}}", "Expected COLON"), ("INSERT INTO {t} VALUE {{'pk': 'a'}} foo", "Unexpected token after expression"),
    ("FROM {t} SET c = 1 WHERE pk = 'x'", "Unexpected token after expression"), ("SELECT key FROM {t}", "Unexpected keyword"),
    ("SELECT *, pk FROM {t}", "Other expressions may not be present in the select list when '*' is used without dot notation."),
    ("SELECT * FROM {t} WHERE pk IN ['a'", "Expected RIGHT_BRACKET"), ("SELECT * FROM {t}; SELECT 1", "Unexpected token after semicolon. (Only one query is allowed.)"),
])
def test_malformed(db, statement, detail):
    assert refused(lambda: run(db, statement.format(t=f'"{HASH}"'))) == MALFORMED + detail


@pytest.mark.parametrize("statement,message", [
    ("SELECT * FROM {t} x WHERE pk = 'a'", "Aliasing is not supported"), ("UPDATE {t} x SET a = 3 WHERE pk = 'x'", "Aliasing is not supported"),
    ("SELECT pk AS p FROM {t}", "Aliasing is not supported"), ("SELECT DISTINCT pk FROM {t}", "Unsupported token in expression: DISTINCT"),
    ("SELECT size(a) FROM {t}", "Unexpected path component at 1:8:4"), ("SELECT a[-1] FROM {t}", "List index is not within the allowable range; index: [-1] at 1:11:1"),
    ("SELECT a, b.a FROM {t}", "Duplicate identifiers in select clause: a"), ('SELECT * FROM "a"."b"."c"', "A path may contain at most 2 components in the FROM clause"),
    ("SELECT * FROM {t} WHERE pk = ?", "Number of parameters in request and statement don't match."),
    ("SELECT * FROM {t} WHERE n = 1e126", "Number overflow. Attempting to store a number with magnitude larger than supported range under root"),
    ("INSERT INTO {t} VALUE {{'pk': 'a', 'm': {{'x': 1e-131}}}}", "Number underflow. Attempting to store a number with magnitude smaller than supported range under root.x"),
    ("INSERT INTO {t} VALUE {{'pk': 'a', 'l': [1, 123456789012345678901234567890123456789]}}", "Attempting to store more than 38 significant digits in a Number under root[1]"),
    ("INSERT INTO {t} VALUE {{'pk': 'a', 's': <<>>}}", "Empty bags are not supported"),
    ("INSERT INTO {t} VALUE {{'pk': 'a', 's': <<1, 'a'>>}}", "Unsupported data type in Bag. DynamoDB only supports either numbers or strings in bags"),
    ("INSERT INTO {t} VALUE {{'pk': 'a', 's': <<'x', 'x'>>}}", "One or more parameter values were invalid: Input collection [x, x] contains duplicates."),
    ("INSERT INTO {t} VALUE {{'pk': 'a'}} RETURNING ALL OLD *", "RETURNING is not supported in INSERT"),
    ("DELETE FROM {t} WHERE pk = 'a' RETURNING MODIFIED OLD *", "Invalid returning clause: RETURNING MODIFIED OLD *. Only RETURNING ALL OLD * is allowed in DELETE statements."),
    ("DELETE FROM {t} WHERE a = 1", "Where clause does not contain a mandatory equality on all key attributes"),
    ("FROM {t} SET c = 1", "Where clause does not contain a mandatory equality on all key attributes"),
    ("DELETE FROM {t} WHERE pk = 'a' AND pk = 'b'", "Multiple conditions on same key pk. Only single item Update/Insert/Delete are supported"),
    ("SELECT * FROM {t} WHERE pk = 1", "Key attribute's data type should match its data type in table's schema: Key pk"),
    ("SELECT * FROM {t} WHERE pk = true", "Key value must be of type S, N, or B. Key name: pk, Key type: BOOL"),
    ("SELECT * FROM {t} WHERE pk = 'a' AND x <> 'b' OR pk = 'a'", "Overlapping conditions with range keys are not supported in where clause"),
    ("SELECT * FROM {t} WHERE pk IN ['a', 'a']", "Overlapping conditions with range keys are not supported in where clause"),
    ("SELECT * FROM {t} WHERE pk IN [" + ", ".join(f"'{i}'" for i in range(51)) + "]", "Too many decomposed read operations for a given query."),
    ("SELECT * FROM {t} WHERE a IN [" + ", ".join(str(i) for i in range(101)) + "]", "The IN operator is provided with too many operands; number of operands: 101"),
    ("SELECT * FROM {t} WHERE a < true", "Incorrect operand type for operator or function; operator or function: <, operand type: BOOL"),
    ("SELECT * FROM {t} WHERE attribute_exists('a')", "Operator or function requires a document path; operator or function: attribute_exists"),
    ("SELECT * FROM {t} WHERE attribute_exists(a, b)", "Incorrect number of operands for operator or function; operator or function: attribute_exists, number of operands: 2"),
    ("SELECT * FROM {t} WHERE a = MISSING", "MISSING must be compared using IS operator"),
    ("SELECT * FROM {t} WHERE a LIKE 'x%'", "Unsupported operator in Condition Expression. Operator: LIKE"),
    ("UPDATE {t} SET a = 'x' + 1 WHERE pk = 'a'", "Incorrect operand type for operator or function; operator or function: +, operand type: S"),
    ("UPDATE {t} SET pk = 'b' WHERE pk = 'a'", "One or more parameter values were invalid: Cannot update attribute pk. This attribute is part of the key"),
    ("SELECT * FROM {t} ORDER BY pk", "Must have WHERE clause in the statement when using ORDER BY clause."),
    ("SELECT * FROM {t} WHERE a = 1 ORDER BY pk", "Must have at least one non-optional hash key condition in WHERE clause when using ORDER BY clause."),
    ("SELECT * FROM {t} WHERE pk = 'a' ORDER BY a", "Variable reference a in ORDER BY clause must be part of the primary key"),
    ("INSERT INTO {t} VALUE 'x'", "Unsupported format in item expression. Please use struct format {...} to express item values for insert statement. at 1:29:3"),
    ("SELECT {t}.* FROM {t}", "Changing item's hierarchy while reading isn't supported"),
    ("UPDATE {t}.\"index\" SET a = 1 WHERE pk = 'a'", "This operation is not supported on an index"),
    ("SELECT b, l, l[0] FROM {t}", "Two document paths overlap with each other; must remove or rewrite one of these paths; path one: [l, [0]], path two: [l]"),
    ("SELECT l.a, l[0] FROM {t}", "Two document paths conflict with each other; must remove or rewrite one of these paths; path one: [l, [0]], path two: [l, a]"),
    ("SELECT pk.a FROM {t} WHERE pk = 'a'", "Key attributes must be scalars; list random access '[]' and map lookup '.' are not allowed: Key: pk"),
    ("SELECT * FROM {t} WHERE pk = 'a' ORDER BY 'x'", "Argument to ORDER BY must be of type VariableReference. Type: \"x\""),
    ("EXISTS(SELECT * FROM {t} WHERE pk = 'a' AND a = 1)", "EXISTS can only be used in ExecuteTransaction write requests."),
    ("x IS INT4", "Unsupported operation: IsType"),
])
def test_refused(db, statement, message):
    assert refused(lambda: run(db, statement.format(t=f'"{HASH}"'))) == message


def test_set_functions_refused(db):
    statement = f"UPDATE \"{HASH}\" SET ss = set_add(ss, 'x') WHERE pk = 'a'"
    assert refused(lambda: run(db, statement)) == "The second argument to SET_ADD must be a value with type SET at 1:%d:2" % (
        statement.index("set_add(ss") + 9)
    statement = f"UPDATE \"{HASH}\" SET t = set_delete(ss, <<'x'>>) WHERE pk = 'a'"
    assert refused(lambda: run(db, statement)) == "The first argument to SET_DELETE must equal the assignment value at 1:%d:10" % (
        statement.index("set_delete") + 1)


def test_no_table(db):
    for statement in ('SELECT * FROM "no-such"', "INSERT INTO \"no-such\" VALUE {'pk': 'a'}", "DELETE FROM \"no-such\" WHERE pk = 'a'"):
        assert refused(lambda: run(db, statement), "ResourceNotFoundException") == "Requested resource not found"


def test_parentheses_and_nesting_are_bounded(db):
    for text in ("(" * 4000, "[" * 4000, "NOT " * 1500, "- " * 3000, "{'a':" * 1500):
        refused(lambda: run(db, f'SELECT * FROM "{HASH}" WHERE a = ' + text))
    refused(lambda: run(db, f'SELECT * FROM "{HASH}" WHERE ' + " OR ".join(["a = 1"] * 400)))


# ---- batches ----

def batch(db, *statements, **more):
    return db.batch_execute_statement(Statements=[s if isinstance(s, dict) else {"Statement": s} for s in statements], **more)["Responses"]


def test_batch_writes(db):
    put(db, HASH, pk=S("bw"), a=N(1))
    update = f'UPDATE "{HASH}" SET a = '
    got = db.batch_execute_statement(Statements=[
        {"Statement": f"INSERT INTO \"{HASH}\" VALUE {{'pk': 'bw2'}}"},
        {"Statement": update + "2 WHERE pk = 'bw' RETURNING ALL NEW *"},
        {"Statement": f"INSERT INTO \"{HASH}\" VALUE {{'pk': 'bw'}}"}, {"Statement": "SLECT * FROM t"},
        {"Statement": "DELETE FROM \"no-such\" WHERE pk = 'a'"},
        {"Statement": update + "3 WHERE pk = 'bw' AND a = 99", "ReturnValuesOnConditionCheckFailure": "ALL_OLD"}])["Responses"]
    assert got[0] == {"TableName": HASH}
    assert got[1] == {"TableName": HASH, "Item": {"pk": S("bw"), "a": N(2)}}
    assert [r["Error"]["Code"] for r in got[2:]] == [
        "DuplicateItem", "ValidationError", "ResourceNotFound", "ConditionalCheckFailed"]
    assert got[3]["Error"]["Message"] == MALFORMED + "Expected data manipulation"
    assert got[5]["Error"]["Item"]["pk"] == S("bw")


def test_batch_reads(db):
    put(db, HASH, pk=S("br"), a=N(1))
    select = f'SELECT * FROM "{HASH}" WHERE '
    got = batch(db, select + "pk = 'br'", select + "pk = 'none'", select + "a = 1", select + "pk = 'br' AND a = 1", select + "pk IN ['br']")
    assert got[0] == {"TableName": HASH, "Item": {"pk": S("br"), "a": N(1)}} and got[1] == {"TableName": HASH} and got[4] == got[0]
    for r in got[2:4]:
        assert r["Error"] == {"Code": "ValidationError", "Message":
                              "Select statements within BatchExecuteStatement must specify the primary key in the where clause."}
    assert "Read and write" in refused(lambda: batch(db, select + "pk = 'br'", f"DELETE FROM \"{HASH}\" WHERE pk = 'br'"))
    refused(lambda: batch(db, *[select + "pk = 'br'"] * 26))


def test_batch_with_a_malformed_parameter(db):
    """It is a fault of the request, as in DynamoDB Local: no statement is carried out."""
    insert = f"INSERT INTO \"{HASH}\" VALUE {{'pk': ?, 'v': ?}}"
    good = {"Statement": insert, "Parameters": [S("bm"), N(1)]}
    for value, message in (
            ({"N": "abc"}, "The parameter cannot be converted to a numeric value: abc"),
            ({"M": {"n": {"N": "1e400"}}}, "Number overflow. Attempting to store a number with magnitude larger than supported range"),
            ({"NS": ["1", "1.0"]}, "Input collection contains duplicates"),
            ({}, "Supplied AttributeValue is empty, must contain exactly one of the supported datatypes")):
        bad = {"Statement": insert, "Parameters": [S("other"), value]}
        for statements in ((good, bad), (bad, good), (bad, bad)):
            assert refused(lambda: batch(db, *statements), ("ValidationException", "UsageError")) == message
    assert rows(db, f"SELECT * FROM \"{HASH}\" WHERE pk IN ['bm', 'other']") == []


# ---- transactions ----

def transact(db, *statements, **more):
    return db.execute_transaction(TransactStatements=[{"Statement": s} for s in statements], **more)


def reasons(call):
    with pytest.raises(ClientError) as failure:
        call()
    assert failure.value.response["Error"]["Code"] == "TransactionCanceledException", failure.value
    return [(r["Code"], r.get("Message")) for r in failure.value.response["CancellationReasons"]]


def test_transaction_of_writes(db):
    put(db, HASH, pk=S("tw"), n=N(0))
    update = f"UPDATE \"{HASH}\" SET n = n + 1 WHERE pk = 'tw'"
    exists = f"EXISTS(SELECT * FROM \"{HASH}\" WHERE pk = 'guard' AND ok = true)"
    none = ("None", None)
    assert reasons(lambda: transact(db, update, exists)) == [none, ("ConditionalCheckFailed", "The conditional request failed")]
    put(db, HASH, pk=S("guard"), ok={"BOOL": True})
    for _ in range(2):
        assert transact(db, update, exists, ClientRequestToken="once")["Responses"] == []
    assert rows(db, f"SELECT n FROM \"{HASH}\" WHERE pk = 'tw'") == [{"n": N(1)}]
    refused(lambda: transact(db, update, ClientRequestToken="once"), "IdempotentParameterMismatchException")
    insert = f"INSERT INTO \"{HASH}\" VALUE {{'pk': 'tw'}}"
    assert reasons(lambda: transact(db, insert)) == [("DuplicateItem", "Duplicate primary key exists in table")]


def test_transaction_of_reads(db):
    put(db, HASH, pk=S("tr"), m={"M": {"x": N(1)}})
    got = transact(db, f"SELECT m.x FROM \"{HASH}\" WHERE pk = 'tr'", f"SELECT * FROM \"{HASH}\" WHERE pk = 'none'",
                   ReturnConsumedCapacity="TOTAL")
    assert got["Responses"] == [{"Item": {"x": N(1)}}, {}] and got["ConsumedCapacity"][0]["CapacityUnits"] == 4.0


def test_transaction_refused(db):
    select, at = f'SELECT * FROM "{HASH}" WHERE ', "Validation failed in TransactStatements[0]: "
    update = f'UPDATE "{HASH}" SET a = 1 WHERE '
    for statement, message in (
            (select, MALFORMED + "Unexpected term"),
            (select + "a = 1", "Select statements within ExecuteTransaction must specify the primary key in the where clause."),
            (update + "pk = 'a' RETURNING ALL NEW *", "RETURNING clause is not supported in ExecuteTransaction."),
            (f"SELECT * FROM \"{INDEXED}\".\"by-g\" WHERE g = 'x'", "Reads on indices are not supported within transactions."),
            (f"EXISTS({select}pk = 'a')", "EXISTS() must contain a single item read with additional condition")):
        assert refused(lambda: transact(db, statement)) == at + message
    key_fault = ("ValidationError", "The provided key element does not match the schema")
    assert reasons(lambda: transact(db, update + "a = 1", update + "pk = 1", update + "pk = 'x'")) == [key_fault, key_fault, ("None", None)]
    empty = "One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain an empty string " \
        "value. Key: pk"
    assert refused(lambda: transact(db, update + "pk = ''")) == empty
    assert refused(lambda: transact(db, f"INSERT INTO \"{HASH}\" VALUE {{'pk': ''}}")) == empty
    assert reasons(lambda: transact(db, select + "pk = ''")) == [("ValidationError", empty)]
    assert reasons(lambda: transact(db, "DELETE FROM \"no-such\" WHERE pk = 'a'", update + "pk = 'a'")) == \
        [("ResourceNotFound", "Requested resource not found"), ("None", None)]
    assert refused(lambda: transact(db, select + "pk = 'a'", select + "pk = 'a'")) == \
        "Transaction request cannot include multiple operations on one item"
    refused(lambda: transact(db, select + "pk = 'a'", update + "pk = 'a'"))
