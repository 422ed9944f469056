"""Requests that miss together cost one read, and none of them hangs (CCH-05). Needs a daemon built with FAULTS=1, whose reads
of the store can be slow or fail on purpose; skipped for others."""

import os
import socket
import struct
import threading
import time

import pytest

from daemon import Daemon
from doors import HttpDoor, Refused
from test_cache import BOTH, HASH, N, S, create, metric
from test_msgpack_wire import ANSWER, ERROR, GET_ITEM, REQUEST, Frames, frame, text

pytestmark = pytest.mark.skipif(not os.environ.get("DYNAX_FAULTS_BUILD"), reason="not built with FAULTS=1")

HERD = 100
DEADLINE = 25      # ERR_DEADLINE on the wire


def herd(daemon, op, body):
    """Ask from many connections at once; the answers, or what was refused, and how long it took."""
    wires = [HttpDoor(daemon) for _ in range(HERD)]
    for w in wires:
        w.connection.connect()
    answers = [None] * HERD
    start = threading.Barrier(HERD)

    def ask(i):
        start.wait()
        try:
            answers[i] = wires[i](op, **body)
        except Refused as refused:
            answers[i] = refused

    threads = [threading.Thread(target=ask, args=(i,)) for i in range(HERD)]
    began = time.monotonic()
    for t in threads:
        t.start()
    for t in threads:
        t.join(20)
        assert not t.is_alive(), "a request hangs"
    return answers, time.monotonic() - began


def slow(**env):
    return Daemon("--threads", "4", env={"DYNAX_FAULT": env.get("fault", "read-delay=200000")})


def test_a_herd_costs_one_read():
    with slow() as d:
        wire = HttpDoor(d)
        t = create(wire, "herd", HASH)
        wire("PutItem", TableName=t, Item={"pk": S("hot"), "d": S("x" * 390000)})
        answers, took = herd(d, "GetItem", dict(TableName=t, Key={"pk": S("hot")}))
        assert all(a["Item"]["d"]["S"] == "x" * 390000 for a in answers)
        assert metric(d, "dynax_item_cache_fills_total") == 1
        assert took < 5
        assert d.stop() == 0


def test_a_herd_of_queries_costs_one_read():
    with slow() as d:
        wire = HttpDoor(d)
        t = create(wire, "herd", BOTH)
        wire("PutItem", TableName=t, Item={"pk": S("hot"), "sk": S("1"), "v": N(7)})
        answers, _ = herd(d, "Query", dict(TableName=t, KeyConditionExpression="pk = :p",
                                           ExpressionAttributeValues={":p": S("hot")}))
        assert all(a["Items"][0]["v"] == N(7) for a in answers)
        assert metric(d, "dynax_query_cache_fills_total") == 1
        assert d.stop() == 0


def test_a_leader_whose_client_is_gone():
    with slow() as d:
        wire = HttpDoor(d)
        t = create(wire, "herd", HASH)
        wire("PutItem", TableName=t, Item={"pk": S("hot"), "v": N(1)})
        leader = HttpDoor(d)
        leader.connection.connect()
        body = b'{"TableName":"herd","Key":{"pk":{"S":"hot"}}}'
        leader.connection.sock.sendall(b"POST / HTTP/1.1\r\nHost: x\r\nX-Amz-Target: DynamoDB_20120810.GetItem\r\n"
                                 b"Content-Type: application/x-amz-json-1.0\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
        time.sleep(0.05)
        leader.connection.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        leader.connection.sock.close()        # a reset, while its read is running
        answers, took = herd(d, "GetItem", dict(TableName=t, Key={"pk": S("hot")}))
        assert all(a["Item"]["v"] == N(1) for a in answers)
        assert metric(d, "dynax_item_cache_fills_total") <= 2
        assert took < 5
        assert d.stop() == 0


@pytest.mark.parametrize("op", ["GetItem", "Scan"])
def test_an_error_is_not_cached(op):
    with slow(fault="read-delay=100000,read-error") as d:
        wire = HttpDoor(d)
        t = create(wire, "herd", HASH)
        wire("PutItem", TableName=t, Item={"pk": S("hot"), "v": N(1)})
        body = dict(TableName=t, Key={"pk": S("hot")}) if op == "GetItem" else dict(TableName=t)
        answers, _ = herd(d, op, body)
        refused = [a for a in answers if isinstance(a, Refused)]
        assert refused
        assert all(r.kind == "InternalServerError" for r in refused)
        got = wire(op, **body)
        assert (got["Item"] if op == "GetItem" else got["Items"][0])["v"] == N(1)
        assert d.stop() == 0


def test_a_deadline_is_answered_while_the_read_goes_on():
    """The msgpack protocol's deadline: the answer comes when it passes, the late one is dropped, the connection goes on."""
    with Daemon("--hand-over", "always", env={"DYNAX_FAULT": "read-delay=400000"}) as d:
        t = create(HttpDoor(d), "late", HASH)
        key = b"\x82\x03\x81" + text("pk") + text("nobody") + b"\x06" + text(t)
        with Frames(d.msgpack) as f:
            began = time.monotonic()
            f.send(frame(REQUEST, GET_ITEM, 7, key, deadline=50))
            kind, code, number, _ = f.next()
            took = time.monotonic() - began
            assert (kind, code, number) == (ERROR, DEADLINE, 7)
            assert 0.05 <= took < 0.35
            f.send(frame(REQUEST, GET_ITEM, 8, key, deadline=5000))
            assert f.next()[:3:2] == (ANSWER, 8)
        assert metric(d, "dynax_orphaned_answers_total") == 1
        assert d.stop() == 0
