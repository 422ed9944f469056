"""A full disk, a full map, a damaged or foreign data directory: each has an outcome with a name, and none ends in a lost write.

The small disk is a tmpfs, which only root can mount: skipped for others."""

import contextlib
import os
import re
import signal
import subprocess
import tempfile
import time

import pytest

from daemon import BINARY, Daemon, DataDirectory
from doors import Database, HttpDoor, Refused, item

PIECE = "x" * 100_000
FULL = {"disk": "no space left on the store's disk", "map": "the store has reached its size limit"}


@contextlib.contextmanager
def small_disk(size):
    if os.geteuid() != 0:
        pytest.skip("only root can mount a small disk")
    with tempfile.TemporaryDirectory(prefix="dynax-test-") as place:
        done = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=" + size, "dynax-test", place], capture_output=True)
        if done.returncode != 0:
            pytest.skip("no tmpfs can be mounted here: " + done.stderr.decode().strip())
        try:
            yield place
        finally:
            subprocess.run(["umount", "-l", place], check=True)


def database(daemon):
    return Database(HttpDoor(daemon), daemon)


def put(db, table, key):
    db.put(table, pk=key, v=PIECE)


def eventually(step, seconds=20):
    """Until it is not refused."""
    deadline = time.monotonic() + seconds
    while True:
        try:
            return step()
        except Refused:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.1)


def fill(db, table, full, most=3000):
    """Put until it is refused; the keys acknowledged."""
    for n in range(most):
        try:
            put(db, table, f"k{n}")
        except Refused as r:
            assert r.kind == "InternalServerError" and full in r.text, r
            return [f"k{i}" for i in range(n)]
    raise AssertionError("it never became full")


def survive(db, table, full):
    """Fill it, delete, go on; the keys that must be there."""
    there = fill(db, table, full)
    assert db.get(table, pk=there[0])["v"] == {"S": PIECE}
    for _ in range(100):
        db("DeleteItem", TableName=table, Key=item(pk=there.pop()))
    eventually(lambda: put(db, table, "again"))
    return there + ["again"]


def check(db, table, keys):
    found = {i["pk"]["S"] for page in db.pages("Scan", TableName=table, ConsistentRead=True, ProjectionExpression="pk")
             for i in page["Items"]}
    assert found == set(keys)
    assert db("DescribeTable", TableName=table)["Table"]["ItemCount"] == len(keys)


def test_a_full_disk():
    with small_disk("100M") as disk:
        with Daemon(data=disk + "/data") as daemon:
            db = database(daemon)
            table = db.create("S")
            there = survive(db, table, FULL["disk"])
            assert len(there) > 500, "most of a small disk is for items"
            assert re.search(r"error: PutItem: .*" + FULL["disk"], daemon.stderr())
            assert len(daemon.stderr().splitlines()) < 20
            there += [k for k in fill(db, table, FULL["disk"]) if k not in there]
            subprocess.run(["mount", "-o", "remount,size=300M", disk], check=True)
            eventually(lambda: put(db, table, "more room"))
            there.append("more room")
            check(db, table, there)
            daemon.kill()
        with Daemon(data=disk + "/data") as daemon:
            db = database(daemon)
            check(db, table, there)
            put(db, table, "after the restart")


def test_a_full_map():
    with DataDirectory() as data:
        with Daemon("--map-max", "64M", data=data) as daemon:
            db = database(daemon)
            table = db.create("S")
            there = survive(db, table, FULL["map"])
            assert len(there) > 200
            check(db, table, there)
        with Daemon("--map-max", "128M", data=data) as daemon:
            db = database(daemon)
            check(db, table, there)
            put(db, table, "more room")


def test_the_limit_is_raised_by_reload():
    with DataDirectory() as data, tempfile.NamedTemporaryFile("w", suffix=".conf") as conf:
        def write(limit):
            conf.seek(0)
            conf.truncate()
            conf.write(f"map-max {limit}\n")
            conf.flush()
        write("64M")
        with Daemon("--config", conf.name, data=data) as daemon:
            db = database(daemon)
            table = db.create("S")
            there = survive(db, table, FULL["map"])
            there += [k for k in fill(db, table, FULL["map"]) if k not in there]
            write("256M")
            daemon.process.send_signal(signal.SIGHUP)
            daemon.await_log("reload: --map-max changed")
            for i in range(300):
                put(db, table, f"more{i}")
                there.append(f"more{i}")
            check(db, table, there)
            write("64M")
            daemon.process.send_signal(signal.SIGHUP)
            with pytest.raises(Refused, match=FULL["map"]):
                for i in range(300):
                    put(db, table, f"late{i}")
                    there.append(f"late{i}")
            check(db, table, there)


def test_a_dropped_table_makes_room():
    with DataDirectory() as data, Daemon("--map-max", "64M", data=data) as daemon:
        db = database(daemon)
        table, other = db.create("S"), db.create("S")
        there = fill(db, table, FULL["map"])
        db("DeleteTable", TableName=table)
        for n in range(len(there) // 2):
            eventually(lambda: put(db, other, f"k{n}"))
        check(db, other, [f"k{n}" for n in range(len(there) // 2)])


# ---- data directories that are not as they should be ----

def refused(words, data, **more):
    done = subprocess.run([BINARY, "--data", data, *(x for door in ("http", "listen", "admin") for x in ("--" + door, "127.0.0.1:0"))],
                          capture_output=True, text=True, timeout=20, **more)
    assert done.returncode == 1 and done.stdout == "", done
    assert len(done.stderr.splitlines()) == 1 and words in done.stderr, done.stderr


@pytest.fixture
def data():
    """Of a daemon that has stopped, with something in its log and its index."""
    with DataDirectory() as path:
        with Daemon(data=path) as daemon:
            db = database(daemon)
            table = db.create("S")
            for n in range(50):
                put(db, table, f"k{n}")
        yield path


def test_an_index_cut_short(data):
    os.truncate(data + "/index.lmdb", 5000)
    refused("index is damaged", data)


def test_an_index_of_noise(data):
    with open(data + "/index.lmdb", "r+b") as f:
        f.write(os.urandom(8192))
    refused("index is damaged or not ours", data)


def test_a_damaged_log():
    with DataDirectory() as data:
        with Daemon(data=data) as daemon:
            db = database(daemon)
            table = db.create("S")
            for n in range(20):
                put(db, table, f"k{n}")
            daemon.kill()
        log = data + "/log/" + min(os.listdir(data + "/log"))
        with open(log, "r+b") as f:
            f.seek(500_000)
            f.write(b"damage")
        refused("The log is damaged: file log/", data)


def test_no_directory():
    refused("Not a directory", "/dev/null/data")
    refused("No such file or directory", "/nowhere/else/data")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody else")
def test_a_directory_of_somebody_else(data):
    os.chmod(data, 0o755)
    refused("Permission denied", data, user=65534)
