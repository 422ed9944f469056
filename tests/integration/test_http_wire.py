"""test_http_wire - the HTTP door against raw sockets: framing, limits, deadlines, codings, and clients that misbehave."""

import gzip
import json
import re
import socket
import struct
import threading
import time
import unittest
import zlib

from daemon import Daemon

TABLE = {"TableName": "wire", "AttributeDefinitions": [{"AttributeName": "p", "AttributeType": "S"}],
         "KeySchema": [{"AttributeName": "p", "KeyType": "HASH"}], "BillingMode": "PAY_PER_REQUEST"}


def head(operation, *lines, version="1.1", method="POST", path="/"):
    target = [f"X-Amz-Target: DynamoDB_20120810.{operation}"] if operation else []
    return "\r\n".join([f"{method} {path} HTTP/{version}", "Host: x", *target, *lines, "", ""]).encode()


def request(operation, body, *lines, **more):
    if not isinstance(body, bytes):
        body = json.dumps(body).encode()
    return head(operation, f"Content-Length: {len(body)}", *lines, **more) + body


class Wire:
    """One connection, and answers read off it."""

    def __init__(self, address, timeout=20):
        self.socket = socket.create_connection(address, timeout=timeout)
        self.pending = b""

    def send(self, data):
        self.socket.sendall(data)
        return self

    def _until(self, mark):
        while mark not in self.pending:
            data = self.socket.recv(65536)
            if not data:
                raise EOFError(self.pending)
            self.pending += data
        found, self.pending = self.pending.split(mark, 1)
        return found

    def answer(self, bodyless=False):
        """(status, headers, body) of the next answer."""
        first, *lines = self._until(b"\r\n\r\n").decode().split("\r\n")
        status = int(first.split()[1])
        headers = {k.lower(): v for k, v in (line.split(": ", 1) for line in lines)}
        length = 0 if bodyless or status == 100 else int(headers["content-length"])
        while len(self.pending) < length:
            data = self.socket.recv(65536)
            if not data:
                raise EOFError
            self.pending += data
        body, self.pending = self.pending[:length], self.pending[length:]
        return status, headers, body

    def at_end(self):
        """Does the peer close, with nothing more to say?"""
        return self.pending == b"" and self.socket.recv(1) == b""

    def reset(self):
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.socket.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()


class HttpWire(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.daemon = Daemon("--head-timeout", "1000", "--body-timeout", "1000", "--write-timeout", "1500",
                            "--idle-timeout", "3000", "--threads", "2")
        cls.addClassCleanup(cls.daemon.end)
        with cls.wire() as w:
            assert w.send(request("CreateTable", TABLE)).answer()[0] == 200

    @classmethod
    def wire(cls):
        return Wire(cls.daemon.http)

    def metric(self, name):
        with Wire(self.daemon.admin) as w:
            text = w.send(b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n").answer()[2].decode()
        found = re.search("^" + re.escape(name) + r" ([\d.e+]+)$", text, re.M)
        return float(found[1])

    def outcome(self, name):
        return self.metric('dynax_connections_closed_total{outcome="%s"}' % name)

    def put(self, key, **attributes):
        item = {"p": {"S": key}, **attributes}
        with self.wire() as w:
            self.assertEqual(w.send(request("PutItem", {"TableName": "wire", "Item": item})).answer()[0], 200)

    def get(self, key):
        with self.wire() as w:
            answer = w.send(request("GetItem", {"TableName": "wire", "Key": {"p": {"S": key}}})).answer()
        self.assertEqual(answer[0], 200)
        return json.loads(answer[2]).get("Item")

    # ---- the envelope ----

    def test_headers(self):
        with self.wire() as w:
            ids = set()
            for _ in range(3):
                status, headers, body = w.send(request("ListTables", {})).answer()
                self.assertEqual(status, 200)
                self.assertEqual(headers["content-type"], "application/x-amz-json-1.0")
                self.assertRegex(headers["x-amzn-requestid"], "^[0-9A-Z]{52}$")
                self.assertEqual(int(headers["x-amz-crc32"]), zlib.crc32(body))
                ids.add(headers["x-amzn-requestid"])
            self.assertEqual(len(ids), 3)

    def test_where_an_answer_came_from(self):
        self.put("from")
        ask = request("GetItem", {"TableName": "wire", "Key": {"p": {"S": "from"}}})
        with self.wire() as w:
            cold, warm = w.send(ask).answer(), w.send(ask).answer()
        self.assertEqual((cold[1]["x-dynax-cache"], warm[1]["x-dynax-cache"]), ("miss", "hit"))
        self.assertEqual(cold[2], warm[2])

    def test_error_envelope(self):
        for data, status, kind in (
                (request("NoSuchThing", {}), 400, "com.amazon.coral.service#UnknownOperationException"),
                (request(None, {}), 400, "com.amazon.coral.service#UnknownOperationException"),
                (request("PutItem", b"{broken"), 400, "com.amazon.coral.service#SerializationException"),
                (request("PutItem", b"{" * 10000), 400, "com.amazon.coral.service#SerializationException"),
                (request("PutItem", b""), 400, "com.amazon.coral.service#SerializationException"),
                (request("DescribeTable", {"TableName": "none"}), 400,
                 "com.amazonaws.dynamodb.v20120810#ResourceNotFoundException")):
            with self.wire() as w:
                answer = w.send(data).answer()
                self.assertEqual(answer[0], status)
                self.assertEqual(json.loads(answer[2])["__type"], kind)

    def test_health_and_paths(self):
        with self.wire() as w:
            self.assertEqual(w.send(head(None, method="GET")).answer()[2], b"healthy: x ")
            status, headers, _ = w.send(head(None, method="HEAD")).answer(bodyless=True)
            self.assertEqual((status, headers["content-length"]), (200, "11"))
            self.assertEqual(w.send(request("ListTables", {}, path="/garbage")).answer()[0], 404)
            self.assertEqual(w.send(request("ListTables", {}, path="http://x/")).answer()[0], 200)
            self.assertEqual(w.send(request(None, b"", method="PUT")).answer()[0], 404)

    # ---- connections ----

    def test_pipelining_in_order(self):
        asks = []
        for i in range(200):    # writes wait for the disk, the rest does not: order must hold all the same
            item = {"p": {"S": "pipe"}, "n": {"N": str(i)}}
            asks.append(request("PutItem", {"TableName": "wire", "Item": item, "ReturnValues": "ALL_OLD"}))
            asks.append(request("NoSuch%d" % i, {}))
        with self.wire() as w:
            w.send(b"".join(asks))
            for i in range(200):
                status, _, body = w.answer()
                self.assertEqual(status, 200)
                if i > 0:
                    self.assertEqual(json.loads(body)["Attributes"]["n"]["N"], str(i - 1))
                self.assertIn(b"UnknownOperation", w.answer()[2])

    def test_long_answers_keep_their_place(self):
        """Answers of a megabyte, whose memory is handed from thread to thread, among small ones, whole and in order."""
        for i in range(4):
            self.put(f"long{i}", v={"S": chr(97 + i) * 300_000})
        keys = [{"p": {"S": f"long{i}"}} for i in range(4)]
        batch = request("BatchGetItem", {"RequestItems": {"wire": {"Keys": keys}}})
        small = request("GetItem", {"TableName": "wire", "Key": {"p": {"S": "no such item"}}})
        with self.wire() as w:
            w.send((batch + small + small + batch) * 4)
            for kind in "lssl" * 4:
                status, _, body = w.answer()
                self.assertEqual(status, 200)
                if kind == "s":
                    self.assertEqual(body, b"{}")
                    continue
                items = json.loads(body)["Responses"]["wire"]
                self.assertEqual({i["p"]["S"]: i["v"]["S"] for i in items}, {f"long{i}": chr(97 + i) * 300_000 for i in range(4)})

    def test_hits_keep_their_place(self):
        """A hit, which is ready at once, is answered no sooner than the writes before it, and however its request is cut."""
        key = {"TableName": "wire", "Key": {"p": {"S": "place"}}}
        asks = []
        for i in range(100):
            asks.append(request("PutItem", {"TableName": "wire", "Item": {"p": {"S": "place"}, "n": {"N": str(i)}}}))
            asks += [request("GetItem", key), request("GetItem", key)]
        with self.wire() as w:
            for ask in asks[:30]:
                w.send(ask)
                self.assertEqual(w.answer()[0], 200)
            w.send(b"".join(asks))
            for _ in range(100):
                self.assertEqual((w.answer()[2], w.answer()[0], w.answer()[0]), (b"{}", 200, 200))
            for _ in range(3):    # split anywhere, a hit is a hit
                whole = request("GetItem", key)
                for at in (10, len(whole) - 40, len(whole) - 1):
                    w.send(whole[:at])
                    time.sleep(0.01)
                    status, headers, body = w.send(whole[at:]).answer()
                    self.assertEqual((status, headers["x-dynax-cache"]), (200, "hit"))
                    self.assertEqual(json.loads(body), {"Item": {"p": {"S": "place"}, "n": {"N": "99"}}})
                    self.assertEqual(int(headers["x-amz-crc32"]), zlib.crc32(body))

    def test_hits_in_every_form(self):
        """What an ordinary answer does for its request's head, a hit's does."""
        with self.wire() as w:
            w.send(request("PutItem", {"TableName": "wire", "Item": {"p": {"S": "form"}, "v": {"S": "x" * 6000}}})).answer()
            ask = {"TableName": "wire", "Key": {"p": {"S": "form"}}}
            w.send(request("GetItem", ask)).answer()
            status, headers, body = w.send(request("GetItem", ask, "Accept-Encoding: gzip", "Content-Type: application/json")).answer()
            self.assertEqual((status, headers["x-dynax-cache"], headers["content-encoding"], headers["content-type"]),
                             (200, "hit", "gzip", "application/json"))
            self.assertEqual(json.loads(gzip.decompress(body))["Item"]["v"]["S"], "x" * 6000)
            absent = {"TableName": "wire", "Key": {"p": {"S": "nobody"}}}
            answers = [w.send(request("GetItem", absent)).answer() for _ in range(2)]
            self.assertEqual([(a[1]["x-dynax-cache"], a[2]) for a in answers], [("miss", b"{}"), ("hit", b"{}")])
            status, headers, _ = w.send(request("GetItem", ask, "Connection: close")).answer()
            self.assertEqual((headers["x-dynax-cache"], headers["connection"]), ("hit", "close"))

    def test_one_byte_at_a_time(self):
        with self.wire() as w:
            w.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            for byte in request("ListTables", {}):
                w.send(bytes([byte]))
            self.assertEqual(w.answer()[0], 200)

    def test_connection_close_and_http_1_0(self):
        with self.wire() as w:
            status, headers, _ = w.send(request("ListTables", {}, "Connection: close")).answer()
            self.assertEqual((status, headers["connection"]), (200, "close"))
            self.assertTrue(w.at_end())
        with self.wire() as w:
            self.assertEqual(w.send(request("ListTables", {}, version="1.0")).answer()[0], 200)
            self.assertTrue(w.at_end())
        with self.wire() as w:
            for _ in range(2):
                w.send(request("ListTables", {}, "Connection: keep-alive", version="1.0"))
                self.assertEqual(w.answer()[1]["connection"], "keep-alive")

    def test_half_close(self):
        with self.wire() as w:
            w.send(request("PutItem", {"TableName": "wire", "Item": {"p": {"S": "half"}}}))
            w.socket.shutdown(socket.SHUT_WR)
            self.assertEqual(w.answer()[0], 200)
            self.assertTrue(w.at_end())

    def test_upgrade_is_ignored(self):
        with self.wire() as w:
            w.send(request("ListTables", {}, "Connection: Upgrade, HTTP2-Settings", "Upgrade: h2c", "HTTP2-Settings: AAMA"))
            self.assertEqual(w.answer()[0], 200)

    # ---- bodies ----

    def test_expect_continue(self):
        body = json.dumps({"TableName": "wire", "Item": {"p": {"S": "expect"}, "x": {"S": "x" * 60000}}}).encode()
        with self.wire() as w:
            for _ in range(2):    # and on a connection used before
                began = time.monotonic()
                w.send(head("PutItem", f"Content-Length: {len(body)}", "Expect: 100-continue"))
                self.assertEqual(w.answer()[0], 100)
                self.assertLess(time.monotonic() - began, 0.5)
                self.assertEqual(w.send(body).answer()[0], 200)
            w.send(request("PutItem", body, "Expect: 100-continue"))
            status = w.answer()[0]
            self.assertEqual(w.answer()[0] if status == 100 else status, 200)
        with self.wire() as w:
            w.send(head("PutItem", "Content-Length: 20000000", "Expect: 100-continue"))
            self.assertEqual(w.answer()[0], 413)
        with self.wire() as w:
            w.send(head("PutItem", "Content-Length: 2", "Expect: a miracle"))
            self.assertEqual(w.answer()[0], 417)

    def test_chunked(self):
        body = json.dumps({"TableName": "wire", "Item": {"p": {"S": "chunk"}, "x": {"S": "y" * 5000}}}).encode()
        for size in (1, 7, 4096, 100000):
            chunks = b"".join(b"%x;ext=1\r\n%s\r\n" % (len(body[i:i + size]), body[i:i + size])
                              for i in range(0, len(body), size))
            with self.wire() as w:
                for _ in range(2):
                    w.send(head("PutItem", "Transfer-Encoding: chunked") + chunks + b"0\r\nX-Amz-Target: x\r\n\r\n")
                    self.assertEqual(w.answer()[0], 200)
        self.assertEqual(self.get("chunk")["x"]["S"], "y" * 5000)

    def test_too_long(self):
        blanks = b" " * (1 << 20)
        begin = b'{"TableName":"wire",'
        with self.wire() as w:
            w.send(head("PutItem", f"Content-Length: {17 << 20}") + begin)
            for _ in range(17):
                w.send(blanks)
            self.assertEqual(w.answer()[0], 413)
        with self.wire() as w:
            w.send(head("PutItem", f"Content-Length: {50 << 20}"))
            for _ in range(50):
                w.send(blanks)
            self.assertEqual(w.answer()[0], 413)
        with self.wire() as w:
            w.send(head("PutItem", "Transfer-Encoding: chunked"))
            for _ in range(17):
                w.send(b"%x\r\n%s\r\n" % (len(blanks), blanks))
            self.assertEqual(w.send(b"0\r\n\r\n").answer()[0], 413)
        self.assertGreaterEqual(self.outcome("body_too_long"), 2)

    def test_longest_body(self):
        text = json.dumps({"TableName": "wire", "Item": {"p": {"S": "longest"}}}).encode()
        with self.wire() as w:
            w.send(request("PutItem", text[:-1] + b" " * ((16 << 20) - len(text)) + text[-1:]))
            self.assertEqual(w.answer()[0], 200)

    def test_long_heads(self):
        for data in (request("ListTables", {}, "header1: " + "x" * 8192, "header2: " + "y" * 8192),
                     request("ListTables", {}, path="/" + "x" * 17000),
                     b"POST / HTTP/1.1\r\n" + b"a: b\r\n" * 100000):
            with self.wire() as w:
                try:
                    w.send(data)
                except ConnectionError:
                    pass
                self.assertEqual(w.answer()[0], 400)
        with self.wire() as w:
            self.assertEqual(w.send(request("ListTables", {}, "header1: " + "x" * 8192)).answer()[0], 200)

    def test_not_http(self):
        for data in (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"\x00" * 50, b"hello\r\n\r\n",
                     b"POST / HTTP/1.1\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n",
                     b"POST / HTTP/1.1\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n",
                     b"POST / HTTP/1.1\r\nContent-Length: -5\r\n\r\n"):
            with self.wire() as w:
                self.assertEqual(w.send(data).answer()[0], 400)
                w.socket.shutdown(socket.SHUT_WR)
                self.assertTrue(w.at_end())

    # ---- codings ----

    def test_coded_requests(self):
        body = json.dumps({"TableName": "wire", "Item": {"p": {"S": "zip"}, "x": {"S": "z" * 100}}}).encode()
        good = {"gzip": [gzip.compress(body), gzip.compress(body[:10]) + gzip.compress(body[10:])],
                "deflate": [zlib.compress(body)], "identity": [body]}
        bad = {"gzip": [gzip.compress(body)[:-1], gzip.compress(body) + b"junk", b"", body], "deflate": [b"", body],
               "garbage": [body]}
        with self.wire() as w:
            for coding, bodies in good.items():
                for data in bodies:
                    self.assertEqual(w.send(request("PutItem", data, "Content-Encoding: " + coding)).answer()[0], 200)
            for coding, bodies in bad.items():
                for data in bodies:
                    data = data.replace(b"zip", b"bad")
                    answer = w.send(request("PutItem", data, "Content-Encoding: " + coding)).answer()
                    self.assertEqual(answer[0], 500, (coding, data[:20]))
        self.assertIsNone(self.get("bad"))

    def test_bomb(self):
        begin = b'{"TableName":"wire","Item":{"p":{"S":"bomb"}}'
        with self.wire() as w:
            w.send(request("PutItem", gzip.compress(begin + b" " * (20 << 20) + b"}"), "Content-Encoding: gzip"))
            self.assertEqual(w.answer()[0], 413)
        self.assertIsNone(self.get("bomb"))

    def test_coded_answers(self):
        self.put("big", x={"S": "x" * 5000})
        self.put("small", x={"S": "x" * 1000})
        undo = {"gzip": gzip.decompress, "deflate": zlib.decompress, None: lambda b: b}
        with self.wire() as w:
            for key, accept, coding in (
                    ("big", "gzip", "gzip"), ("big", "deflate", "deflate"), ("big", "identity", None), ("small", "gzip", None),
                    ("big", "br, gzip;q=0, deflate; q = 0.5 , identity;q=0", "deflate"), ("big", "*", "gzip"),
                    ("big", "gzip;q=0", None)):
                ask = {"TableName": "wire", "Key": {"p": {"S": key}}}
                status, headers, body = w.send(request("GetItem", ask, "Accept-Encoding: " + accept)).answer()
                self.assertEqual((status, headers.get("content-encoding")), (200, coding), accept)
                self.assertEqual(int(headers["x-amz-crc32"]), zlib.crc32(body))
                self.assertEqual(json.loads(undo[coding](body))["Item"]["p"]["S"], key)

    # ---- browsers ----

    def test_cors(self):
        with self.wire() as w:
            w.send(head(None, "Origin: http://x", "Access-Control-Request-Headers: a, b",
                        "Access-Control-Request-Method: POST", method="OPTIONS"))
            status, headers, body = w.answer()
            self.assertEqual((status, body), (200, b""))
            self.assertEqual(headers["access-control-allow-origin"], "*")
            self.assertEqual(headers["access-control-allow-headers"], "a, b")
            self.assertEqual(headers["access-control-allow-methods"], "POST")
            self.assertEqual(headers["access-control-max-age"], "172800")
            headers = w.send(request("ListTables", {}, "Origin: http://x")).answer()[1]
            self.assertEqual(headers["access-control-allow-origin"], "*")
            self.assertNotIn("access-control-max-age", headers)
            for data in (request("ListTables", {}), head(None, method="OPTIONS")):
                self.assertFalse([k for k in w.send(data).answer()[1] if k.startswith("access-control")])

    # ---- clients that misbehave ----

    def closes_within(self, wire, seconds):
        wire.socket.settimeout(seconds)
        try:
            while wire.socket.recv(65536):
                pass
        except ConnectionError:
            pass

    def test_slow_head_and_body(self):
        before = self.outcome("head_deadline"), self.outcome("body_deadline")
        stop = time.monotonic() + 2.5
        slow = [self.wire().send(b"POST / HTTP/1.1\r\nX: "), self.wire().send(head("PutItem", "Content-Length: 1000"))]
        while time.monotonic() < stop:    # a byte now and then must not help
            for w in slow:
                try:
                    w.send(b"x")
                except ConnectionError:
                    pass
            time.sleep(0.2)
        for w in slow:
            self.closes_within(w, 1)
            w.socket.close()
        self.assertEqual((self.outcome("head_deadline"), self.outcome("body_deadline")), (before[0] + 1, before[1] + 1))

    def test_idle(self):
        before = self.outcome("idle_limit")
        with self.wire() as w:
            w.send(request("ListTables", {})).answer()
            began = time.monotonic()
            self.closes_within(w, 6)
            self.assertGreater(time.monotonic() - began, 2.5)
        self.assertEqual(self.outcome("idle_limit"), before + 1)

    def test_client_that_does_not_read(self):
        self.put("fat", x={"S": "x" * 300000})
        ask = request("GetItem", {"TableName": "wire", "Key": {"p": {"S": "fat"}}})
        before = self.outcome("write_deadline")

        def flood():
            with self.wire() as w:
                w.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
                w.socket.settimeout(0.5)
                try:
                    for _ in range(2000):
                        w.send(ask)
                except OSError:
                    pass
                time.sleep(4)

        threads = [threading.Thread(target=flood) for _ in range(10)]
        for t in threads:
            t.start()
        time.sleep(1)
        with open("/proc/%d/status" % self.daemon.pid) as f:
            memory = int(re.search(r"VmRSS:\s+(\d+)", f.read())[1])
        self.put("other")    # others are served all the while
        for t in threads:
            t.join()
        self.assertLess(memory, 400 << 10)
        self.assertEqual(self.outcome("write_deadline"), before + 10)

    def test_slow_reader_gets_all_in_order(self):
        for i in range(20):
            self.put("slow%d" % i, x={"S": "x" * 200000})
        with self.wire() as w:
            w.send(b"".join(request("GetItem", {"TableName": "wire", "Key": {"p": {"S": "slow%d" % i}}}) for i in range(20)))
            time.sleep(1)
            for i in range(20):
                self.assertEqual(json.loads(w.answer()[2])["Item"]["p"]["S"], "slow%d" % i)

    def test_gone_before_the_last_byte(self):
        data = request("PutItem", {"TableName": "wire", "Item": {"p": {"S": "cut"}}})
        with self.wire() as w:
            w.send(data[:-1])
            time.sleep(0.1)
            w.reset()
        with self.wire() as w:
            w.send(data[:-1])
        time.sleep(0.2)
        self.assertIsNone(self.get("cut"))

    def test_gone_with_work_in_flight(self):
        count = {"TableName": "wire", "Key": {"p": {"S": "count"}}, "UpdateExpression": "ADD c :one",
                 "ExpressionAttributeValues": {":one": {"N": "1"}}}
        self.put("huge", x={"S": "x" * 390000})
        big = request("GetItem", {"TableName": "wire", "Key": {"p": {"S": "huge"}}})
        for i in range(100):
            w = self.wire().send(request("UpdateItem", count))
            w.reset()
            w = self.wire().send(big * 5)
            w.socket.recv(4096)
            w.reset()
        deadline = time.monotonic() + 5
        while self.metric("dynax_connections") > 0 and time.monotonic() < deadline:
            time.sleep(0.1)
        self.assertEqual(self.metric("dynax_connections"), 0)
        counted = int((self.get("count") or {"c": {"N": "0"}})["c"]["N"])
        self.assertTrue(0 <= counted <= 100)


if __name__ == "__main__":
    unittest.main()
