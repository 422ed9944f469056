"""doors - one way to speak to both doors of a daemon, and a short way to write DynamoDB's JSON.

    db = Database(HttpDoor(daemon), daemon)         or MsgpackDoor
    db.put(h, pk="a", n=N("1.0"))           answers are dictionaries
    db.refuse("ValidationException", "38 significant digits", "PutItem", TableName=h, Item=item(pk="a", n=N("1" * 39)))

Every read is asked twice, cold and then warm, and must be answered alike.
The msgpack door is spoken through build/libdynax.so (or what LIBDYNAX names), which turns JSON into frames. Values that no
frame can hold it refuses itself, with the service's text as a UsageError: that counts as the service's own refusal."""

import base64
import ctypes
import http.client
import itertools
import json
import os

from daemon import ROOT

LIBRARY = os.environ.get("LIBDYNAX", os.path.join(ROOT, "build", "libdynax.so"))
READS = {"GetItem", "BatchGetItem", "Query", "Scan", "TransactGetItems"}
STREAMS = {"ListStreams", "DescribeStream", "GetShardIterator", "GetRecords"}
SCALING = {"RegisterScalableTarget", "DescribeScalableTargets", "DeregisterScalableTarget", "PutScalingPolicy",
           "DescribeScalingPolicies", "DeleteScalingPolicy"}


class Refused(Exception):
    """An error of the service: its type without the name space, its text, and the whole body."""

    def __init__(self, kind, text, body):
        super().__init__(f"{kind}: {text}")
        self.kind, self.text, self.body = kind, text, body


class HttpDoor:
    """One kept-alive connection. `source` is where the last answer came from: "hit", "miss", "bypass" or None; `bytes` are its
    very bytes."""

    def __init__(self, daemon):
        self.connection = http.client.HTTPConnection(*daemon.http, timeout=30)

    def raw(self, operation, body):
        """Status and bytes of the answer to these very bytes."""
        service = ("DynamoDBStreams_20120810." if operation in STREAMS
                   else "AnyScaleFrontendService." if operation in SCALING else "DynamoDB_20120810.")
        self.connection.request("POST", "/", body, {"X-Amz-Target": service + operation,
                                                    "Content-Type": "application/x-amz-json-1.0"})
        answer = self.connection.getresponse()
        self.source = answer.getheader("x-dynax-cache")
        self.bytes = answer.read()
        return answer.status, self.bytes

    def __call__(self, operation, **body):
        return self.call(operation, json.dumps(body))

    def call(self, operation, text):
        status, data = self.raw(operation, text.encode())
        body = json.loads(data) if data else {}
        if status != 200:
            raise Refused(body["__type"].split("#")[-1], body.get("message", body.get("Message", "")), body)
        return body

    def close(self):
        self.connection.close()


class MsgpackDoor:
    def __init__(self, daemon):
        lib = self.lib = ctypes.CDLL(LIBRARY)
        for name in ("dynax_open", "dynax_call"):
            getattr(lib, name).restype = ctypes.c_void_p
        for name in ("dynax_result_type", "dynax_result_message", "dynax_result_json"):
            getattr(lib, name).restype = ctypes.c_char_p
            getattr(lib, name).argtypes = [ctypes.c_void_p]
        lib.dynax_call.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_char_p]
        lib.dynax_ok.restype = ctypes.c_bool
        lib.dynax_ok.argtypes = [ctypes.c_void_p]
        lib.dynax_result_source.argtypes = [ctypes.c_void_p]
        lib.dynax_open.argtypes = [ctypes.c_char_p, ctypes.c_void_p]
        self.client = ctypes.c_void_p(lib.dynax_open(("%s:%d" % daemon.msgpack).encode(), None))

    def call(self, operation, text):
        lib = self.lib
        result = ctypes.c_void_p(lib.dynax_call(self.client, operation.encode(), text.encode()))
        try:
            self.source = (None, "hit", "miss", "bypass")[lib.dynax_result_source(result)]
            body = lib.dynax_result_json(result)
            body = json.loads(body) if body else {}
            if not lib.dynax_ok(result):
                raise Refused(lib.dynax_result_type(result).decode(), lib.dynax_result_message(result).decode(), body)
            return body
        finally:
            lib.dynax_result_free(ctypes.byref(result))

    def close(self):
        self.lib.dynax_close(ctypes.byref(self.client))


# ---- values ----

class N(str):
    """A number, as text."""


class Typed(dict):
    """A value that is JSON already."""


def SS(*members):
    return Typed(SS=list(members))


def NS(*members):
    return Typed(NS=list(members))


def BS(*members):
    return Typed(BS=[base64.b64encode(m).decode() for m in members])


def value(v):
    if isinstance(v, Typed):
        return dict(v)
    if isinstance(v, N):
        return {"N": str(v)}
    if isinstance(v, str):
        return {"S": v}
    if isinstance(v, bool):
        return {"BOOL": v}
    if isinstance(v, int):
        return {"N": str(v)}
    if isinstance(v, bytes):
        return {"B": base64.b64encode(v).decode()}
    if v is None:
        return {"NULL": True}
    if isinstance(v, list):
        return {"L": [value(x) for x in v]}
    return {"M": {k: value(x) for k, x in v.items()}}


def item(**attributes):
    return {k: value(v) for k, v in attributes.items()}


def values(**v):
    """ExpressionAttributeValues; the colons are added."""
    return {":" + k: value(x) for k, x in v.items()}


# ---- tables ----

def keys(*names):
    return [{"AttributeName": n, "KeyType": kind} for n, kind in zip(names, ("HASH", "RANGE"))]


def definitions(**types):
    return [{"AttributeName": n, "AttributeType": t} for n, t in types.items()]


def index(name, *key, projection="ALL", **more):
    return {"IndexName": name, "KeySchema": keys(*key), "Projection": {"ProjectionType": projection}, **more}


class Database:
    numbers = itertools.count()

    def __init__(self, door, daemon):
        self.door, self.daemon = door, daemon

    def another(self):
        """The same daemon on a connection of its own."""
        return Database(type(self.door)(self.daemon), self.daemon)

    def __call__(self, operation, **body):
        text = json.dumps(body)
        answer = self.door.call(operation, text)
        if operation in READS:
            again = self.door.call(operation, text)
            assert again == answer, f"{operation}: the warm answer differs from the cold one"
        return answer

    def refuse(self, kind, text, operation, **body):
        """Expect an error of this type whose text has this part; gives the error. Twice, for a cache must not change it."""
        body = json.dumps(body)
        for _ in range(2):
            try:
                answer = self.door.call(operation, body)
            except Refused as r:
                refused = r
            else:
                raise AssertionError(f"{operation} was answered: {answer}")
            assert refused.kind in (kind, "UsageError"), refused
            assert text in refused.text, refused
        return refused

    def invalid(self, text, operation, **body):
        return self.refuse("ValidationException", text, operation, **body)

    def create(self, types="S", key=("pk", "sk"), **more):
        """A new table: its name. types: of pk and, if there are two letters, of sk."""
        name = f"table-{next(self.numbers)}"
        key = key[:len(types)]
        more.setdefault("AttributeDefinitions", definitions(**dict(zip(key, types))))
        more.setdefault("BillingMode", "PAY_PER_REQUEST")
        self("CreateTable", TableName=name, KeySchema=keys(*key), **more)
        return name

    def put(self, table, **attributes):
        return self("PutItem", TableName=table, Item=item(**attributes))

    def get(self, table, **key):
        """The item, or None."""
        return self("GetItem", TableName=table, Key=item(**key), ConsistentRead=True).get("Item")

    def update(self, table, key, expression, returns="ALL_NEW", names=None, **v):
        """UpdateItem; gives the attributes that come back. Each value goes by its name with a colon."""
        body = {"TableName": table, "Key": item(**key), "UpdateExpression": expression, "ReturnValues": returns}
        if names:
            body["ExpressionAttributeNames"] = names
        if v:
            body["ExpressionAttributeValues"] = values(**v)
        return self("UpdateItem", **body).get("Attributes")

    def pages(self, operation, **body):
        """Every page, following LastEvaluatedKey."""
        while True:
            page = self(operation, **body)
            yield page
            if "LastEvaluatedKey" not in page:
                return
            body["ExclusiveStartKey"] = page["LastEvaluatedKey"]
