"""The shape tables against an independent copy of the API's description: the one that botocore ships.

Every operation of ours is walked, request and answer, beside botocore's shapes. What botocore has must be in ours with
the same kind, bounds, pattern, enumeration and requiredness; what only ours has is newer, and allowed. Differences that
are right are listed, each with its reason.
"""
import json
import os
import subprocess
import tempfile

import botocore.loaders

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SCALING = "application-autoscaling"
NO_BOUND = {-2**63, 2**63 - 1, 0, None}

# Where the service has moved on since older copies of botocore.
OPTIONAL_NOW = {
    "CreateTable.in.AttributeDefinitions": "not given for a global table's replica; validate() requires it otherwise",
    "CreateTable.in.KeySchema": "the same",
    "UpdateTable.in.GlobalSecondaryIndexUpdates[].Update.ProvisionedThroughput": "an on-demand index has none",
}
# (our shape, botocore's): their bounds and patterns differ.
BOUNDS_NOW = {
    ("TableArn", "TableName"): "a table may be named by its ARN; validate() holds names to the old rules",
    ("TableArn", "TableArn"): "bounded now",
    ("KeySchema", "KeySchema"): "an index may have more than two key attributes; validate() keeps tables to two",
}


def our_tables():
    with tempfile.TemporaryDirectory() as d:
        exe = os.path.join(d, "dump_shapes")
        subprocess.run([os.environ.get("CC", "cc"), "-std=c17", "-D_GNU_SOURCE", "-I", ROOT, "-o", exe,
                        os.path.join(ROOT, "tests/integration/dump_shapes.c"),
                        os.path.join(ROOT, "protocol/shape.c"), os.path.join(ROOT, "protocol/op.c")], check=True)
        return json.loads(subprocess.run([exe], check=True, stdout=subprocess.PIPE).stdout)


def model(service):
    version = "2016-02-06" if service == SCALING else "2012-08-10"
    return botocore.loaders.Loader().load_service_model(service, "service-2", version)


class Comparison:
    def __init__(self, ours, theirs):
        self.ours, self.theirs = ours["shapes"], theirs["shapes"]
        self.errors, self.compared = [], set()

    def wrong(self, path, text):
        self.errors.append(f"{path}: {text}")

    def bound(self, path, name, mine, yours):
        if mine in NO_BOUND and yours in NO_BOUND:
            return
        if mine != yours:
            self.wrong(path, f"{name} is {mine}, botocore has {yours}")

    def shape(self, path, mine, yours):
        if (mine, yours) in self.compared:
            return
        self.compared.add((mine, yours))
        a, b = self.ours[mine], self.theirs[yours]
        kind = {"float": "double"}.get(b["type"], b["type"])
        if yours == "AttributeValue":
            kind = "value"
        elif kind == "string" and "enum" in b:
            kind = "enum"
        elif kind == "map" and b["value"]["shape"] == "AttributeValue":
            kind = "item"
        if a["kind"] != kind:
            return self.wrong(path, f"is a {a['kind']}, botocore has a {kind}")
        check = getattr(self, kind, None)
        if check:
            check(path, a, b)
        if kind in ("string", "list", "map", "item", "integer", "long") and (mine, yours) not in BOUNDS_NOW:
            for name in ("min", "max"):
                self.bound(path, name, a[name], b.get(name))
            if a.get("pattern") != b.get("pattern"):
                self.wrong(path, f"pattern is {a.get('pattern')}, botocore has {b.get('pattern')}")

    def enum(self, path, a, b):
        missing = set(b["enum"]) - set(a["values"])
        if missing:
            self.wrong(path, f"lacks the values {sorted(missing)}")

    def list(self, path, a, b):
        self.shape(path + "[]", a["element"], b["member"]["shape"])

    def map(self, path, a, b):
        self.shape(path + "{}", a["element"], b["value"]["shape"])
        self.shape(path + "{key}", a["key"], b["key"]["shape"])

    def item(self, path, a, b):
        self.shape(path + "{key}", a["key"], b["key"]["shape"])

    def structure(self, path, a, b):
        required = set(b.get("required", []))
        for name, member in b["members"].items():
            here = f"{path}.{name}"
            if name not in a["members"]:
                self.wrong(here, "is missing")
                continue
            mine = a["members"][name]
            if mine["required"] != (name in required) and here not in OPTIONAL_NOW:
                self.wrong(here, f"required is {mine['required']}, botocore has {name in required}")
            self.shape(here, mine["shape"], member["shape"])


def only_members(ours, theirs, mine, yours):
    """Of Application Auto Scaling only what tables need is here; test_scaling_api.py speaks to it by botocore."""
    for name, member in ours["shapes"][mine]["members"].items():
        assert name in theirs["shapes"][yours]["members"], f"botocore has no {name} in {yours}"
        assert member["required"] == (name in theirs["shapes"][yours].get("required", [])), f"{yours}.{name}"


def test_shapes_match_botocore():
    ours = our_tables()
    models = {service: model(service) for service in ("dynamodb", "dynamodbstreams", SCALING)}
    errors, compared = [], 0
    for name, op in ours["operations"].items():
        theirs = models[op["service"]]
        assert name in theirs["operations"], f"botocore knows no operation {name}"
        if op["service"] == SCALING:
            only_members(ours, theirs, op["in"], theirs["operations"][name]["input"]["shape"])
            continue
        c = Comparison(ours, theirs)
        for side, key in (("in", "input"), ("out", "output")):
            if key in theirs["operations"][name]:
                c.shape(f"{name}.{side}", op[side], theirs["operations"][name][key]["shape"])
        errors += c.errors
        compared += len(c.compared)
    for name in ("ConditionalCheckFailedException", "TransactionCanceledException"):
        c = Comparison(ours, models["dynamodb"])
        c.shape(name, name, name)
        errors += c.errors
    assert compared > 500, f"only {compared} shapes were compared"
    assert not errors, "\n" + "\n".join(errors)


def test_the_comparison_can_fail():
    ours, theirs = our_tables(), model("dynamodb")
    ours["shapes"]["GetItemInput"]["members"].pop("ConsistentRead")
    ours["shapes"]["GetItemInput"]["members"]["Key"]["required"] = False
    ours["shapes"]["ReturnConsumedCapacity"]["values"].remove("TOTAL")
    ours["shapes"]["AttributeNameList"]["min"] = 2
    c = Comparison(ours, theirs)
    c.shape("GetItem.in", "GetItemInput", "GetItemInput")
    assert len(c.errors) == 4, c.errors


if __name__ == "__main__":
    test_the_comparison_can_fail()
    test_shapes_match_botocore()
