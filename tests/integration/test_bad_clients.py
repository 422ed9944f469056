"""Clients that do not read, do not finish, or are gone: memory and descriptors stay bounded, and others are served meanwhile."""

import json
import os
import re
import signal
import socket
import struct
import threading
import time
import urllib.request
import zlib

import pytest

from daemon import BINARY, Daemon
from doors import Database, HttpDoor, item
from test_http_wire import Wire, request
from test_msgpack_wire import GET_ITEM, REQUEST, Frames, frame, text

BIG = 30                                # items of 100 KB in the long answers
PER_CONNECTION = 4 << 20                # bytes that a client who does not read may cost
SANITIZED = "address" in BINARY         # then what was freed is kept for a while


@pytest.fixture(scope="module")
def served():
    with Daemon() as daemon:
        db = Database(HttpDoor(daemon), daemon)
        table = db.create("S")
        for n in range(BIG):
            db.put(table, pk=f"b{n}", v=f"{n}é" + "y" * 100_000)
        db.put(table, pk="small", v="x")
        db.put(table, pk="middle", v="m" * 10_000)
        db.put(table, pk="counter", c=0)
        yield daemon, table


def long_request(table, *lines):
    return request("BatchGetItem", {"RequestItems": {table: {"Keys": [item(pk=f"b{n}") for n in range(BIG)]}}}, *lines)


def memory(daemon):
    with open(f"/proc/{daemon.pid}/status") as f:
        return int(re.search(r"VmRSS:\s+(\d+)", f.read())[1]) << 10


def descriptors(daemon):
    return len(os.listdir(f"/proc/{daemon.pid}/fd"))


def connections(daemon):
    with urllib.request.urlopen(daemon.admin_url + "/metrics") as answer:
        return int(re.search(r"^dynax_connections (\d+)", answer.read().decode(), re.M)[1])


def back_to(daemon, before, seconds=5):
    """Descriptors and the gauge of connections, within five seconds."""
    deadline = time.monotonic() + seconds
    while (now := (connections(daemon), descriptors(daemon))) > before and time.monotonic() < deadline:
        time.sleep(0.05)
    assert now <= before


def reset(s):
    s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    s.close()


class Normal(threading.Thread):
    """A client like any other, at work meanwhile."""

    def __init__(self, daemon, table):
        super().__init__()
        self.door, self.body = HttpDoor(daemon), json.dumps({"TableName": table, "Key": item(pk="small")}).encode()
        self.stop, self.count, self.bad = False, 0, []

    def run(self):
        while not self.stop:
            status, data = self.door.raw("GetItem", self.body)
            self.count += 1
            if status != 200 or b'"x"' not in data:
                self.bad.append((status, data))

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.stop = True
        self.join()
        self.door.close()
        assert self.count > 0 and not self.bad


class Hoarder:
    """A client that asks for many items of 10 KB and reads when it likes. It knows how many bytes of their answers the daemon
    still holds: what it is owed, but for what is in the kernel."""

    def __init__(self, daemon, table):
        self.frames = Frames(daemon.msgpack)
        self.socket = self.frames.socket
        self.ask = frame(REQUEST, GET_ITEM, 1, b"\x82\x03\x81" + text("pk") + text("middle") + b"\x06" + text(table))
        self.socket.sendall(self.ask)
        self.answer, self.owed = 16 + len(self.frames.next()[3]), 0

    def request(self, n):
        self.socket.sendall(self.ask * n)
        self.owed += n * self.answer

    def read(self, n):
        while n > 0:
            got = len(self.socket.recv(min(n, 1 << 16)))
            assert got > 0
            self.owed -= got
            n -= got

    def read_what_is_there(self):
        deadline = time.monotonic() + 10
        while self.kernel_has() > 0 and time.monotonic() < deadline:
            try:
                self.owed -= len(self.socket.recv(1 << 16, socket.MSG_DONTWAIT))
            except BlockingIOError:
                time.sleep(0.01)

    def kernel_has(self):
        ours, theirs = self.socket.getsockname()[1], self.socket.getpeername()[1]
        with open("/proc/net/tcp") as f:
            lines = [line.split() for line in f.readlines()[1:]]
        queues = {(int(l[1][-4:], 16), int(l[2][-4:], 16)): l[4].split(":") for l in lines}
        return int(queues[theirs, ours][0], 16) + int(queues[ours, theirs][1], 16)

    def daemon_has(self):
        """Once that does not change any more. (What is on its way may be counted twice for a moment, at both ends.)"""
        last = None
        while (now := self.owed - self.kernel_has()) != last or now < 0:
            last = now
            time.sleep(0.005)
        return now


def test_long_answers_keep_their_order(served):
    daemon, table = served
    small = request("GetItem", {"TableName": table, "Key": item(pk="small")})
    with Wire(daemon.http) as w:
        w.send(long_request(table) + small + long_request(table, "Accept-Encoding: gzip") + small)
        for wanted in (BIG, None, BIG, None):
            status, headers, data = w.answer()
            assert status == 200 and int(headers["x-amz-crc32"]) == zlib.crc32(data)
            if headers.get("content-encoding") == "gzip":
                data = zlib.decompress(data, 31)
            body = json.loads(data)
            if wanted is None:
                assert body["Item"]["v"] == {"S": "x"}
                continue
            items = {i["pk"]["S"]: i["v"]["S"] for i in body["Responses"][table]}
            assert items == {f"b{n}": f"{n}é" + "y" * 100_000 for n in range(BIG)}


def test_clients_that_never_read(served):
    daemon, table = served
    before, base = (connections(daemon), descriptors(daemon)), memory(daemon)
    with Normal(daemon, table):
        all_ = [socket.create_connection(daemon.http) for _ in range(40)]
        wanted = request("GetItem", {"TableName": table, "Key": item(pk="b1")}) * 200
        for s in all_:
            s.setblocking(False)
        peak, deadline = 0, time.monotonic() + 2
        while time.monotonic() < deadline:
            for s in all_:
                try:
                    s.send(wanted)
                except BlockingIOError:
                    pass
            peak = max(peak, memory(daemon))
            time.sleep(0.02)
        if not SANITIZED:
            assert peak - base < len(all_) * PER_CONNECTION
        for s in all_:
            reset(s)
    back_to(daemon, before)


def test_a_client_that_asks_for_much_at_once_and_never_reads():
    """What is not in the caches is read by other threads: their answers are in nobody's backlog until they are finished."""
    with Daemon("--item-cache", "0", "--query-cache", "0") as daemon:
        db = Database(HttpDoor(daemon), daemon)
        table = db.create("S")
        for n in range(BIG):
            db.put(table, pk=f"b{n}", v="y" * 100_000)
        base, peak, deadline = memory(daemon), 0, time.monotonic() + 3
        with Wire(daemon.http) as w:
            w.send(long_request(table) * 300)
            while time.monotonic() < deadline:
                peak = max(peak, memory(daemon))
                time.sleep(0.02)
            if not SANITIZED:
                assert peak - base < 200 << 20
            for _ in range(40):    # who begins to read gets more than were under way
                assert w.answer()[0] == 200


@pytest.mark.parametrize("requests", range(700, 1200, 100))
def test_a_client_that_is_gone_when_its_answers_are(served, requests):
    """The daemon learns at once that it may write the last of them and that there will be no more requests."""
    daemon, table = served
    before = connections(daemon), descriptors(daemon)
    h = Hoarder(daemon, table)
    while not 0 < (held := h.daemon_has()) <= 200_000:
        h.request(requests if held == 0 else 0)
        h.read(500_000 if held > 1_500_000 else 50_000)
    os.kill(daemon.pid, signal.SIGSTOP)
    try:
        h.read_what_is_there()
        h.socket.shutdown(socket.SHUT_WR)
    finally:
        os.kill(daemon.pid, signal.SIGCONT)
    h.read(h.owed)
    assert h.socket.recv(1) == b""
    h.socket.close()
    back_to(daemon, before)


def test_resets_in_the_midst_of_answers(served):
    daemon, table = served
    before = connections(daemon), descriptors(daemon)

    def one(wait):
        s = socket.create_connection(daemon.http)
        s.sendall(long_request(table))
        if wait:
            s.recv(4096)
        reset(s)

    with Normal(daemon, table):
        all_ = [threading.Thread(target=one, args=(n % 2,)) for n in range(100)]
        for t in all_:
            t.start()
        for t in all_:
            t.join()
    back_to(daemon, before)


def test_connections_that_are_reset_at_once(served):
    daemon, table = served
    before = connections(daemon), descriptors(daemon)
    with Normal(daemon, table):
        for n in range(2000):
            reset(socket.create_connection(daemon.http if n % 2 else daemon.msgpack))
    back_to(daemon, before)


def test_a_write_whose_client_is_gone(served):
    """Whole or not at all: never twice."""
    daemon, table = served
    db = Database(HttpDoor(daemon), daemon)
    update = request("UpdateItem", {"TableName": table, "Key": item(pk="counter"), "UpdateExpression": "ADD c :o",
                                    "ExpressionAttributeValues": {":o": {"N": "1"}}})
    for n in range(20):
        c = int(db.get(table, pk="counter")["c"]["N"])
        s = socket.create_connection(daemon.http)
        s.sendall(update if n % 2 else update[:-1])
        reset(s)
        time.sleep(0.02)
        assert int(db.get(table, pk="counter")["c"]["N"]) - c in ((0, 1) if n % 2 else (0,))
    db.door.close()


def test_clients_that_send_slowly():
    with Daemon("--head-timeout", "700", "--body-timeout", "700") as daemon:
        before, base = (connections(daemon), descriptors(daemon)), memory(daemon)
        starts = [(daemon.http, b""), (daemon.http, request("PutItem", {})[:-2].replace(b"Content-Length: 2", b"Content-Length: 900000")),
                  (daemon.msgpack, b"")]
        all_ = []
        for n in range(60):
            s = socket.create_connection(starts[n % 3][0])
            s.sendall(starts[n % 3][1])
            s.setblocking(False)
            all_.append(s)
        text, deadline = b"POST / HTTP/1.1\r\nX-Slow: " + b"a" * 1000, time.monotonic() + 10
        for n in range(1000):
            for s in all_[:]:
                try:
                    s.send(text[n:n + 1])
                    if s.recv(4096) == b"":
                        all_.remove(s)
                except BlockingIOError:
                    pass
                except OSError:
                    all_.remove(s)
            if not all_ or time.monotonic() > deadline:
                break
            time.sleep(0.05)
        assert not all_, "a slow sender is still there"
        assert SANITIZED or memory(daemon) - base < 16 << 20
        back_to(daemon, before)
