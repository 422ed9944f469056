"""A worker whose ring fails (proxy/ring.h) loses no answer, sends none twice, and writes one by one from then on. Needs a daemon
built with FAULTS=1; skipped for others."""

import os
import signal
import socket

import pytest

from daemon import Daemon
from doors import HttpDoor
from test_cache import HASH, S, create

pytestmark = pytest.mark.skipif(not os.environ.get("DYNAX_FAULTS_BUILD"), reason="not built with FAULTS=1")

CONNECTIONS = 16


class Asker:
    """A connection that asks for one item of its own, again and again."""

    def __init__(self, daemon, table, number):
        self.socket = socket.create_connection(daemon.http, timeout=20)
        body = '{"TableName":"%s","Key":{"pk":{"S":"k%d"}}}' % (table, number)
        self.request = ("POST / HTTP/1.1\r\nHost: x\r\nX-Amz-Target: DynamoDB_20120810.GetItem\r\n"
                        "Content-Type: application/x-amz-json-1.0\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body)).encode()
        self.item = b'"d":{"S":"%d' % number
        self.rest = b""

    def ask(self):
        self.socket.sendall(self.request)

    def take(self):
        """One answer, which is its own; what comes behind it is left for the next time."""
        while b"\r\n\r\n" not in self.rest:
            self.more()
        head, rest = self.rest.split(b"\r\n\r\n", 1)
        length = int(head.lower().split(b"content-length: ")[1].split(b"\r\n")[0])
        while len(rest) < length:
            self.more()
            rest = self.rest.split(b"\r\n\r\n", 1)[1]
        assert head.startswith(b"HTTP/1.1 200") and self.item in rest[:length]
        self.rest = rest[length:]

    def more(self):
        data = self.socket.recv(1 << 20)
        assert data, "the connection was closed"
        self.rest += data


@pytest.mark.parametrize("size", [10, 300000])
def test_no_answer_is_lost_or_doubled(size):
    with Daemon("--threads", "1", env={"DYNAX_FAULT": "ring-short"}) as d:
        wire = HttpDoor(d)
        table = create(wire, "ring", HASH)
        askers = [Asker(d, table, i) for i in range(CONNECTIONS)]
        for i, asker in enumerate(askers):
            wire("PutItem", TableName=table, Item={"pk": S(f"k{i}"), "d": S(f"{i} " + "x" * size)})
            asker.ask()
            asker.take()
        for _ in range(20):
            os.kill(d.pid, signal.SIGSTOP)       # so that it finds all of them together
            for asker in askers:
                asker.ask()
            os.kill(d.pid, signal.SIGCONT)
            for asker in askers:
                asker.take()
        if "io_uring" not in d.stderr():
            pytest.skip("this kernel does not offer io_uring to us")
        assert d.stderr().count("io_uring fails") == 1
        for asker in askers:
            assert asker.rest == b""
            asker.socket.setblocking(False)
            with pytest.raises(BlockingIOError):
                asker.socket.recv(1)
