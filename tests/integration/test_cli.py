"""The dynax command against the real daemon: the tour, exit codes, the load generator, and a program on libdynax."""

import json
import os
import re
import subprocess

import pytest
from daemon import ROOT

DYNAX = os.environ.get("DYNAX", os.path.join(ROOT, "build", "dynax"))


@pytest.fixture(scope="module")
def run(dynax):
    endpoint = "%s:%d" % dynax.msgpack

    def call(*args, code=0, stdin=None):
        done = subprocess.run([DYNAX, "--endpoint", endpoint, *args], input=stdin, capture_output=True, text=True, timeout=60)
        assert done.returncode == code, done.stdout + done.stderr
        return done.stdout if code == 0 else done.stderr
    call.endpoint = endpoint
    return call


def test_tour(run):
    assert run("ping") == "the server is there\n"
    assert json.loads(run("create-table", "shop", "PK", "SK"))["TableDescription"]["TableName"] == "shop"
    assert run("list-tables") == "shop\n"
    run("put", "shop", "PK=CUSTOMER#42", "SK=PROFILE", "name=Ana", "tags:=[\"a\", 1.50, null, {\"x\": true}]")
    run("put", "shop", "PK=CUSTOMER#42", "SK=ORDER#2025-05-30#o-7", "total:=20")
    run("put", "shop", "PK=CUSTOMER#42", "SK=ORDER#2025-06-12#o-9", "total:=60")
    run("put", "shop", "PK=ORDER#o-9", "SK=META", "status=PLACED")
    run("put", "shop", '{"PK":{"S":"ORDER#o-9"},"SK":{"S":"ITEM#1"},"qty":{"N":"1"}}')

    profile = json.loads(run("get", "shop", "PK=CUSTOMER#42", "SK=PROFILE", "--plain"))
    assert profile == {"PK": "CUSTOMER#42", "SK": "PROFILE", "name": "Ana", "tags": ["a", 1.5, None, {"x": True}]}
    assert json.loads(run("get", "shop", "PK=CUSTOMER#42", "SK=PROFILE", "--projection", "tags[1]")) \
        == {"tags": {"L": [{"N": "1.5"}]}}

    orders = [json.loads(x) for x in run("query", "shop", "PK=CUSTOMER#42", "SK^=ORDER#", "--reverse").splitlines()]
    assert [o["total"]["N"] for o in orders] == ["60", "20"]
    assert len(run("query", "shop", "PK=ORDER#o-9").splitlines()) == 2

    ship = ["update", "shop", "PK=ORDER#o-9", "SK=META", "--expr", "SET #s = :new", "--if", "#s = :old", "--name",
            "#s=status", "--value", ":new=SHIPPED", "--value", ":old=PLACED"]
    assert json.loads(run(*ship, "--return", "ALL_NEW", "--plain"))["status"] == "SHIPPED"
    assert run(*ship, code=3) == "dynax: ConditionalCheckFailedException: The conditional request failed\n"

    assert json.loads(run("delete", "shop", "PK=ORDER#o-9", "SK=META", "--return", "ALL_OLD", "--plain"))["SK"] == "META"
    assert "no such item" in run("get", "shop", "PK=ORDER#o-9", "SK=META", code=1)


def test_batches_wait_for_throughput(run):
    """One unit a second, and the five minutes' worth that have been saved up used up: it takes as long as it takes."""
    run("call", "CreateTable", json.dumps({
        "TableName": "slow", "ProvisionedThroughput": {"ReadCapacityUnits": 1, "WriteCapacityUnits": 1},
        "KeySchema": [{"AttributeName": "id", "KeyType": "HASH"}],
        "AttributeDefinitions": [{"AttributeName": "id", "AttributeType": "N"}]}))
    run("call", "PutItem", "-", stdin=json.dumps(
        {"TableName": "slow", "Item": {"id": {"N": "0"}, "v": {"S": "x" * 299 * 1024}}}))
    run("batch-write", "slow", stdin="".join('{"id":{"N":"%d"}}\n' % i for i in range(1, 5)))
    assert json.loads(run("call", "DescribeTable", '{"TableName":"slow"}'))["Table"]["ItemCount"] == 5
    run("delete-table", "slow")


def test_batches_and_paging(run):
    run("create-table", "bulk", "id:N")
    items = "".join('{"id":{"N":"%d"}}\n' % i for i in range(130))
    run("batch-write", "bulk", stdin=items)
    assert len(run("scan", "bulk").splitlines()) == 130
    assert len(run("scan", "bulk", "--limit", "7").splitlines()) == 7
    assert len(run("scan", "bulk", "--limit", "7", "--all").splitlines()) == 130
    parts = [run("scan", "bulk", "--segment", "%d/3" % i).splitlines() for i in range(3)]
    assert sum(map(len, parts)) == 130 and len(set(sum(parts, []))) == 130
    assert len(run("batch-get", "bulk", "id:=1", "id:=2", "id:=1000").splitlines()) == 2
    run("batch-write", "bulk", "delete", stdin=items)
    assert run("scan", "bulk") == ""
    run("delete-table", "bulk")


def test_plain_lines(run):
    run("create-table", "plain", "PK", "SK:N")
    items = [{"PK": "a", "SK": n, "tags": ["x", 1.5, None, {"y": True}], "text": "it's = \u00fc"} for n in range(30)]
    run("batch-write", "plain", "--plain", stdin="".join(json.dumps(i) + "\n" for i in items) + "\nPK=b,SK:=1\r\n")
    printed = run("query", "plain", "PK=a", "--plain")
    assert [json.loads(line) for line in printed.splitlines()] == items
    assert json.loads(run("get", "plain", "PK=b", "SK:=1", "--plain")) == {"PK": "b", "SK": 1}
    keys = "".join(json.dumps({"PK": i["PK"], "SK": i["SK"]}) + "\n" for i in items)
    run("batch-write", "plain", "delete", "--plain", stdin=keys + '{"PK":"b","SK":1}\n')
    assert run("scan", "plain") == ""
    for line in ('{"PK":"a"', '[1]', '{"PK":"a","SK":1} x', '{"PK":"a","SK":' + "[" * 40 + "]" * 40 + "}"):
        assert run("batch-write", "plain", "--plain", stdin=line + "\n", code=2).startswith("dynax: ")
    assert run("batch-write", "plain", stdin='{"PK":"a","SK":1}\n', code=2).startswith("dynax: ")
    run("delete-table", "plain")


def test_any_operation(run):
    assert "bulk2" in run("call", "CreateTable", "-", stdin=json.dumps({
        "TableName": "bulk2", "BillingMode": "PAY_PER_REQUEST", "KeySchema": [{"AttributeName": "k", "KeyType": "HASH"}],
        "AttributeDefinitions": [{"AttributeName": "k", "AttributeType": "S"}]}))
    assert "bulk2" in json.loads(run("call", "ListTables"))["TableNames"]
    assert "ResourceNotFoundException" in run("call", "DescribeTable", '{"TableName":"nothing"}', code=3)
    run("delete-table", "bulk2")


@pytest.mark.parametrize("args", [
    [], ["frob"], ["get", "shop"], ["get", "shop", "PK"], ["get", "shop", "PK:=x"], ["--frob", "ping"],
    ["get", "shop", "PK=a", "SK=b", "--limit", "3"], ["scan", "shop", "--limit", "x"], ["scan", "shop", "--segment", "1"],
    ["query", "shop", "PK=a", "SK=b", "X=c"], ["call", "Nothing"], ["call", "ListTables", "{"], ["scan", "shop", "--limit"],
    ["list-tables", "--plain"], ["batch-get", "shop", "PK=a", "--projection", "x"], ["scan", "shop", "--read"],
    ["partitions", "shop", "--limit", "3"], ["index-delay", "soon"], ["index-delay", "1", "--admin", "a:b"],
    ["scan", "shop", "--limit", "99999999999"], ["--plain=1", "ping"], ["--timeout", "0", "ping"], ["put", "shop", '{"PK":"a"}'], ["create-table", "t"],
])
def test_usage(run, args):
    assert run(*args, code=2).startswith("dynax: ")


def test_help_of_each_command():
    def text(*args):
        done = subprocess.run([DYNAX, *args], capture_output=True, text=True, timeout=30)
        assert done.returncode == 0 and done.stderr == ""
        return done.stdout
    everything = text("--help")
    assert text("help") == text("-h") == everything
    commands = re.findall(r"^  ([a-z][a-z-]+) ", everything, re.M)
    assert len(commands) > 15
    with open(os.path.join(ROOT, "docs", "man", "dynax.1"), encoding="utf-8") as f:
        page = f.read()
    assert sorted(commands) == sorted(re.findall(r"^\.It Cm ([a-z-]+)", page, re.M))
    described = re.findall(r"Fl -([a-z-]+)", "".join(line for line in page.splitlines(True) if line.startswith(".It Fl ")))
    assert sorted(described) == sorted(re.findall(r"^  --([a-z-]+)", everything, re.M))
    for command in commands:
        options = re.findall(r"^  (--[a-z-]+)", text(command, "--help"), re.M)
        if command != "bench":
            assert options and text("help", command) == text(command, "-h") == text(command, "--help")
            assert set(options) < set(re.findall(r"^  (--[a-z-]+)", everything, re.M))
    assert re.findall(r"^  (--[a-z-]+)", text("get", "--help"), re.M) == [
        "--endpoint", "--timeout", "--plain", "--help", "--consistent", "--projection", "--name"]


def test_a_page_is_one_page_whatever_a_filter_leaves(run):
    run("create-table", "paged", "PK", "SK:N")
    run("batch-write", "paged", stdin="".join("PK=a,SK:=%d\n" % n for n in range(20)))
    limited = subprocess.run([DYNAX, "query", "paged", "PK=a", "--limit", "5", "--filter", "attribute_exists(x)"],
                             capture_output=True, text=True, timeout=30, env={**os.environ, "DYNAX_ENDPOINT": run.endpoint})
    assert (limited.returncode, limited.stdout) == (0, "")
    assert limited.stderr == """dynax: more with --after '{"PK":{"S":"a"},"SK":{"N":"4"}}'\n"""
    assert len(run("query", "paged", "PK=a", "--after", '{"PK":{"S":"a"},"SK":{"N":"4"}}').splitlines()) == 15
    run("delete-table", "paged")


def test_lines_that_cannot_be_read(run):
    run("create-table", "lines", "PK")
    said = run("batch-write", "lines", stdin="".join("PK=%d\n" % n for n in range(30)) + "\nbad\nPK=x\n", code=2)
    assert "line 32 of standard input" in said and said.endswith("25 items written\n")
    assert len(run("scan", "lines").splitlines()) == 25
    directory = os.open("/tmp", os.O_RDONLY)
    done = subprocess.run([DYNAX, "batch-write", "lines"], stdin=directory, capture_output=True, text=True, timeout=30,
                          env={**os.environ, "DYNAX_ENDPOINT": run.endpoint})
    os.close(directory)
    assert done.returncode == 2 and "Is a directory" in done.stderr
    run("delete-table", "lines")


def test_nobody_there():
    for args in (["--endpoint", "127.0.0.1:1", "ping"], ["--admin", "[::1]:1", "index-delay"]):
        done = subprocess.run([DYNAX, *args], capture_output=True, text=True, timeout=30)
        assert done.returncode == 4 and args[1] + ": " in done.stderr and done.stderr.endswith(": Connection refused\n")


def test_an_empty_variable_is_as_none():
    for variable, command in (("DYNAX_ENDPOINT", "ping"), ("DYNAX_ADMIN", "index-delay")):
        done = subprocess.run([DYNAX, command], capture_output=True, text=True, timeout=30, env={**os.environ, variable: ""})
        assert done.returncode == 0 or (done.returncode == 4 and "127.0.0.1:811" in done.stderr), done.stderr


def test_the_wrong_port(dynax):
    for address in (dynax.http, dynax.admin):
        done = subprocess.run([DYNAX, "--endpoint", "%s:%d" % address, "--timeout", "300", "ping"], capture_output=True, text=True,
                              timeout=30)
        assert done.returncode == 4 and "is it the msgpack port of a dynaxd?" in done.stderr


@pytest.mark.parametrize("protocol,depth,more", [
    ("msgpack", 1, []), ("msgpack", 16, ["--distribution", "zipf"]), ("http", 1, []), ("http", 4, ["--read-ratio", "0.5"]),
    ("msgpack", 4, ["--rate", "1000", "--read-ratio", "0.9"]), ("http", 2, ["--table", "with-time", "--expire", "9999999999"]),
    ("msgpack", 1, ["--table", "with-time", "--expire", "9999999999"]),
])
def test_load_generator(dynax, protocol, depth, more):
    endpoint = "%s:%d" % (dynax.http if protocol == "http" else dynax.msgpack)
    done = subprocess.run([DYNAX, "bench", "--protocol", protocol, "--endpoint", endpoint, "--depth", str(depth), "--keys", "300",
                           "--connections", "4", "--duration", "0.5", "--warmup", "0.1", "--load", "--server-pid",
                           str(dynax.pid), "--json", *more], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stdout + done.stderr
    got = json.loads(done.stdout)
    assert got["ops"] > 100 and got["errors"] == 0 and got["misses"] == 0
    assert 0 < got["p50_us"] <= got["p99_us"] <= got["p999_us"]
    assert got["server_cpu_us_per_op"] > 0 or "--rate" in more    # 0 if all the time was one pause of the generator


def test_samples_are_the_answers(dynax, tmp_path):
    done = subprocess.run([DYNAX, "bench", "--endpoint", "%s:%d" % dynax.msgpack, "--keys", "300", "--load",
                           "--requests", "500", "--read-ratio", "0.5", "--samples", str(tmp_path / "s"), "--json"], capture_output=True, text=True,
                          timeout=60)
    assert done.returncode == 0, done.stdout + done.stderr
    lines = [line.split() for line in (tmp_path / "s").read_text().splitlines()]
    assert len(lines) == json.loads(done.stdout)["ops"] == 500 and {kind for _, _, kind in lines} == {"r", "w"}
    assert max(int(ns) for _, ns, _ in lines) < 60e9


def test_installed_library(dynax, run, tmp_path):
    """The ten-line program, built as a user would, from what `make install` put into a place."""
    if os.path.dirname(os.path.abspath(DYNAX)) != os.path.join(ROOT, "build"):
        pytest.skip("the plain build is what is installed")
    prefix = str(tmp_path)
    subprocess.run(["make", "-s", "install", "PREFIX=" + prefix], cwd=ROOT, check=True, timeout=300)
    flags = subprocess.run(["pkg-config", "--cflags", "--libs", "dynax"], check=True, capture_output=True, text=True,
                           env={**os.environ, "PKG_CONFIG_PATH": prefix + "/lib/pkgconfig"}).stdout.split()
    with open(os.path.join(ROOT, "examples", "profile.c"), encoding="utf-8") as f:
        source = f.read().replace("127.0.0.1:8111", "%s:%d" % dynax.msgpack)
    (tmp_path / "profile.c").write_text(source)
    subprocess.run(["cc", "-Wall", "-Wextra", "-Werror", prefix + "/profile.c", *flags, "-o", prefix + "/profile"], check=True)
    run("create-table", "ecommerce", "PK", "SK")
    run("put", "ecommerce", "PK=CUSTOMER#42", "SK=PROFILE", "name=Ana")
    done = subprocess.run([prefix + "/profile"], capture_output=True, text=True, timeout=30,
                          env={**os.environ, "LD_LIBRARY_PATH": prefix + "/lib"})
    assert done.stdout == "Ana\n", done.stdout + done.stderr
    private = subprocess.run(["pkg-config", "--static", "--libs-only-l", "dynax"], check=True, capture_output=True, text=True,
                             env={**os.environ, "PKG_CONFIG_PATH": prefix + "/lib/pkgconfig"}).stdout.split()
    subprocess.run(["cc", "-I" + prefix + "/include", prefix + "/profile.c", prefix + "/lib/libdynax.a",
                    *[x for x in private if x != "-ldynax"], "-o", prefix + "/static"], check=True)
    assert subprocess.run([prefix + "/static"], capture_output=True, text=True, timeout=30).stdout == "Ana\n"
    with open(prefix + "/lib/systemd/system/dynaxd.service", encoding="utf-8") as f:
        assert "ExecStart=" + prefix + "/sbin/dynaxd --data" in f.read()
    exported = subprocess.run(["nm", "-D", "--defined-only", prefix + "/lib/libdynax.so"], check=True, capture_output=True,
                              text=True).stdout.split()[2::3]
    assert exported and all(name.startswith(("dynax_", "DYNAX_0")) for name in exported)
    subprocess.run(["make", "-s", "uninstall", "PREFIX=" + prefix], cwd=ROOT, check=True, timeout=60)
    left = [os.path.join(folder, name) for folder, _, names in os.walk(prefix) for name in names]
    assert sorted(os.path.basename(name) for name in left) == ["profile", "profile.c", "static"]
