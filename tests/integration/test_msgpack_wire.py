"""test_msgpack_wire - the msgpack door against raw sockets: greeting, batches, bad frames, deadlines."""

import re
import socket
import struct
import time
import unittest

from daemon import Daemon
from test_http_wire import TABLE, Wire, request

HELLO, REQUEST, ANSWER, ERROR, PUSH, PING, PONG = range(1, 8)
GET_ITEM, PUT_ITEM = 0, 1
FRAME, UNKNOWN_OPERATION, SERIALIZATION, TOO_LARGE, UNAVAILABLE = 26, 3, 2, 24, 21
HIT, MISS = 1, 2


def frame(kind, code=0, number=0, body=b"", deadline=0):
    return struct.pack(">IIBBHI", 12 + len(body), number, kind, code, 0, deadline) + body


def text(s):
    s = s.encode()
    return (bytes([0xa0 | len(s)]) if len(s) < 32 else b"\xd9" + bytes([len(s)])) + s


def get_item(key, table="wire", consistent=False):
    return (b"\x83\x01\xc3" if consistent else b"\x82") + b"\x03\x81" + text("p") + text(key) + b"\x06" + text(table)


def hello(version=1, longest=None):
    body = b"\x00" + bytes([version])
    return frame(HELLO, body=b"\x81" + body if longest is None else b"\x82" + body + b"\x02\xce" + struct.pack(">I", longest))


class Frames:
    def __init__(self, address, greet=True):
        self.socket = socket.create_connection(address, timeout=20)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.pending = b""
        if greet:
            self.send(hello())
            assert self.next()[0] == HELLO

    def send(self, data):
        self.socket.sendall(data)
        return self

    def _exactly(self, n):
        while len(self.pending) < n:
            data = self.socket.recv(1 << 16)
            if not data:
                raise EOFError
            self.pending += data
        found, self.pending = self.pending[:n], self.pending[n:]
        return found

    def next(self):
        """(kind, code, id, body) of the next frame."""
        length, number, kind, code, _, _ = struct.unpack(">IIBBHI", self._exactly(16))
        return kind, code, number, self._exactly(length - 12)

    def at_end(self):
        return self.pending == b"" and self.socket.recv(1) == b""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()


class MsgpackWire(unittest.TestCase):
    OPTIONS = ()

    @classmethod
    def setUpClass(cls):
        cls.daemon = Daemon("--head-timeout", "1000", "--body-timeout", "1000", "--threads", "2", *cls.OPTIONS)
        cls.addClassCleanup(cls.daemon.end)
        with Wire(cls.daemon.http) as w:
            assert w.send(request("CreateTable", TABLE)).answer()[0] == 200
            for i in range(100):
                item = {"p": {"S": "k%d" % i}, "v": {"S": "x" * i}}
                assert w.send(request("PutItem", {"TableName": "wire", "Item": item})).answer()[0] == 200

    def frames(self, **more):
        return Frames(self.daemon.msgpack, **more)

    def outcome(self, name):
        with Wire(self.daemon.admin) as w:
            metrics = w.send(b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n").answer()[2].decode()
        return float(re.search('closed_total{outcome="%s"} (.*)' % name, metrics)[1])

    def test_greeting(self):
        with self.frames(greet=False) as f:    # requests may come right behind it
            f.send(hello() + frame(PING, 0, 6, b"hi"))
            kind, _, _, body = f.next()
            self.assertEqual(kind, HELLO)
            self.assertIn(b"dynaxd/", body)
            self.assertEqual(f.next(), (PONG, 0, 6, b"hi"))
        with self.frames(greet=False) as f:    # a newer client gets our version
            self.assertEqual(f.send(hello(version=9)).next()[0], HELLO)

    def test_bad_greetings(self):
        before = self.outcome("bad_greeting")
        for data in (frame(PING), hello(version=0), frame(HELLO, body=b"\xc1"), frame(HELLO)):
            with self.frames(greet=False) as f:
                self.assertEqual(f.send(data).next()[:3], (ERROR, FRAME, 0))
                f.socket.shutdown(socket.SHUT_WR)
                self.assertTrue(f.at_end())
        self.assertEqual(self.outcome("bad_greeting"), before + 4)

    def test_bad_frames(self):
        for data in (b"GET / HTTP/1.1\r\n\r\n", struct.pack(">I", 11), struct.pack(">I", 0xffffffff), frame(99), frame(ANSWER)):
            with self.frames() as f:
                f.send(frame(PING, 0, 1) + data)    # what came before is answered
                self.assertEqual(f.next()[0], PONG)
                self.assertEqual(f.next()[:3], (ERROR, FRAME, 0))
                f.socket.shutdown(socket.SHUT_WR)
                self.assertTrue(f.at_end())

    def test_only_the_first_mistake_is_told(self):
        junk = struct.pack(">I", 0xffffffff)
        for greet, data in ((True, frame(ANSWER) + junk), (False, frame(PING) + junk), (False, hello(version=0) + junk)):
            with self.frames(greet=greet) as f:
                self.assertEqual(f.send(data).next()[:3], (ERROR, FRAME, 0))
                f.socket.shutdown(socket.SHUT_WR)
                self.assertTrue(f.at_end())

    def test_an_idle_connection_is_told_before_it_ends(self):
        with Daemon("--idle-timeout", "300") as d, Frames(d.msgpack) as f, Frames(d.msgpack, greet=False) as silent:
            self.assertEqual(f.send(frame(PING, 0, 1)).next()[0], PONG)
            kind, code, number, body = f.next()
            self.assertEqual((kind, code, number), (ERROR, UNAVAILABLE, 0))
            self.assertIn(b"The connection was idle for too long", body)
            f.send(frame(PING, 0, 2))          # it crosses with that, and is not carried out
            self.assertTrue(f.at_end())
            self.assertTrue(silent.at_end())
            with Wire(d.admin) as w:
                metrics = w.send(b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n").answer()[2].decode()
            self.assertIn('closed_total{outcome="idle_limit"} 2', metrics)

    def test_bad_bodies_are_answered(self):
        with self.frames() as f:
            for number, (code, body, error) in enumerate((
                    (GET_ITEM, b"", SERIALIZATION), (GET_ITEM, b"\xc1", SERIALIZATION), (GET_ITEM, b"\x80" * 9, SERIALIZATION),
                    (GET_ITEM, get_item("k1")[:-1], SERIALIZATION), (200, b"\x80", UNKNOWN_OPERATION))):
                f.send(frame(REQUEST, code, number, body))
                self.assertEqual(f.next()[:3], (ERROR, error, number))
            f.send(frame(PING, 0, 77))
            self.assertEqual(f.next()[2], 77)

    def expect_items(self, f, wanted):
        got = {}
        while len(got) < len(wanted):
            kind, _, number, body = f.next()
            self.assertEqual(kind, ANSWER)
            got[number] = body
        for number, i in wanted.items():
            value = b"\x81\x01\x82" + text("p") + text("k%d" % i) + text("v") + text("x" * i) if i < 100 else b"\x80"
            self.assertEqual(got[number], value)

    def test_batches(self):
        for _ in range(2):    # cold, then warm
            with self.frames() as f:
                wanted = {n: n * 7 % 120 for n in range(1000)}
                f.send(b"".join(frame(REQUEST, GET_ITEM, n, get_item("k%d" % i, consistent=n % 2)) for n, i in wanted.items()))
                self.expect_items(f, wanted)

    def test_long_answers_among_short_ones(self):
        """Each whole, whoever waits behind whom."""
        put = {"TableName": "wire", "Item": {"p": {"S": "long"}, "v": {"S": "x" * 390_000}}}
        with Daemon("--item-cache", "0", *self.OPTIONS) as d, Wire(d.http) as w, Frames(d.msgpack) as f:
            w.send(request("CreateTable", TABLE)).answer()
            self.assertEqual(w.send(request("PutItem", put)).answer()[0], 200)
            long = b"\x81\x01\x82" + text("p") + text("long") + text("v") + b"\xdb" + struct.pack(">I", 390_000) + b"x" * 390_000
            f.send(b"".join(frame(REQUEST, GET_ITEM, n, get_item("long" if n % 3 == 0 else "none")) for n in range(40)))
            for _ in range(40):
                kind, _, number, body = f.next()
                self.assertEqual(kind, ANSWER)
                self.assertEqual(body, long if number % 3 == 0 else b"\x80")

    def test_batches_longer_than_a_turn(self):
        n = 3000    # takes a worker longer than it serves one connection at a time
        data = b"".join(frame(REQUEST, GET_ITEM, i, get_item("k1", table="nosuch")) for i in range(n))
        many = [self.frames() for _ in range(40)]
        for f in many:
            f.send(data)
        for f in many:
            with f:
                self.assertEqual([f.next()[2] for _ in range(n)], list(range(n)))

    def test_warm_equals_cold(self):
        ask = frame(REQUEST, GET_ITEM, 5, get_item("k50"))
        with self.frames() as f:
            f.send(ask).next()
            warm = f.send(ask).next()
            self.assertEqual(warm[1], HIT)
            f.send(frame(REQUEST, GET_ITEM, 6, get_item("k50", table="nowhere")))
            self.assertEqual(f.next()[0], ERROR)
            f.send(frame(REQUEST, GET_ITEM, 7, get_item("no such item")))
            cold = f.next()
            f.send(frame(REQUEST, GET_ITEM, 7, get_item("no such item")))
            warm = f.next()
            self.assertEqual((cold[1], warm[1], cold[3], warm[3]), (MISS, HIT, b"\x80", b"\x80"))

    def test_one_byte_at_a_time(self):
        with self.frames(greet=False) as f:
            for byte in hello() + frame(REQUEST, GET_ITEM, 9, get_item("k3")) + frame(PING, 0, 1, b"end"):
                f.send(bytes([byte]))
            self.assertEqual(f.next()[0], HELLO)
            self.expect_items(f, {9: 3})
            self.assertEqual(f.next(), (PONG, 0, 1, b"end"))

    def test_answer_longer_than_the_peer_takes(self):
        with self.frames(greet=False) as f:
            f.send(hello(longest=100))
            f.next()
            for _ in range(2):
                f.send(frame(REQUEST, GET_ITEM, 1, get_item("k99")))
                self.assertEqual(f.next()[:2], (ERROR, TOO_LARGE))
                f.send(frame(REQUEST, GET_ITEM, 1, get_item("k9")))
                self.assertEqual(f.next()[0], ANSWER)

    def test_large_frame(self):
        body = b"x" * (16 << 20)
        with self.frames() as f:
            f.send(frame(PING, 0, 3, body))
            self.assertEqual(f.next(), (PONG, 0, 3, body))

    def test_deadlines(self):
        before = self.outcome("head_deadline"), self.outcome("body_deadline")
        silent = self.frames(greet=False)
        slow = self.frames()
        slow.send(struct.pack(">IIBBHI", 1 << 20, 0, PING, 0, 0, 0))
        stop = time.monotonic() + 2
        while time.monotonic() < stop:
            try:
                slow.send(b"x")
            except ConnectionError:
                break
            time.sleep(0.2)
        for f in (silent, slow):
            f.socket.settimeout(2)
            try:
                self.assertEqual(f.socket.recv(1), b"")
            except ConnectionError:
                pass
            f.socket.close()
        self.assertEqual((self.outcome("head_deadline"), self.outcome("body_deadline")), (before[0] + 1, before[1] + 1))


class MsgpackHandOver(MsgpackWire):
    """The same with every read on the reader threads, and each answer written by itself."""
    OPTIONS = ("--hand-over", "always", "--io-uring", "off")


if __name__ == "__main__":
    unittest.main()
