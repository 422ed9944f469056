"""test_daemon - the daemon as a process: options, one clear line for each mistake, signals, descriptors, admin."""

import json
import os
import re
import select
import signal
import socket
import subprocess
import tempfile
import time
import unittest

from daemon import BINARY, ROOT, Daemon, DataDirectory
from test_http_wire import TABLE, Wire, request
from test_msgpack_wire import ANSWER, ERROR, PUT_ITEM, REQUEST, Frames, frame, text

FREE = ("--http", "127.0.0.1:0", "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0")


def run(*options):
    return subprocess.run([BINARY, *options], capture_output=True, text=True, timeout=20)


class Options(unittest.TestCase):
    def refused(self, words, *options):
        done = run(*options)
        self.assertNotEqual(done.returncode, 0)
        self.assertEqual(done.stdout, "")
        self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
        self.assertIn(words, done.stderr)

    def test_mistakes(self):
        self.refused("unknown option '--nonsense'", "--nonsense")
        self.refused("unexpected argument 'x'", "x")
        self.refused("needs a value", "--data")
        self.refused("bad value '12Q' for --item-cache", "--item-cache", "12Q")
        self.refused("bad value 'never' for --durability", "--durability=never")
        self.refused("bad value '8000' for --http", "--http", "8000")
        self.refused("bad value", "--threads", "-1")
        self.refused("cannot read /nowhere.conf", "--config", "/nowhere.conf")
        self.refused("cannot read /tmp: Is a directory", "--config", "/tmp")
        self.refused("cannot open the store: /dev/null: Not a directory", "--data", "/dev/null", *FREE)
        self.refused("--insecure", "--memory", "--http", "0.0.0.0:0", *FREE[2:])

    def test_address_in_use(self):
        with socket.create_server(("127.0.0.1", 0)) as s:
            self.refused("Address already in use", "--memory", "--http", "127.0.0.1:%d" % s.getsockname()[1], *FREE[2:])

    def test_data_in_use(self):
        with DataDirectory() as data, Daemon(data=data):
            self.refused(data, "--data", data, *FREE)

    def test_insecure(self):
        with Daemon("--http", "0.0.0.0:0", "--insecure") as d:
            with Wire(("127.0.0.1", d.http[1])) as w:
                self.assertEqual(w.send(request("ListTables", {})).answer()[0], 200)

    def test_version_and_help(self):
        self.assertRegex(run("--version").stdout, r"^dynaxd \d+\.\d+\.\d+$")
        names = re.findall(r"^  --([a-z-]+) ", run("--help").stdout, re.M)
        self.assertGreater(len(names), 35)
        with open(os.path.join(ROOT, "docs", "man", "dynaxd.8"), encoding="utf-8") as f:
            described = re.findall(r"Fl -([a-z-]+)", "".join(line for line in f if line.startswith(".It Fl ")))
        self.assertEqual(sorted(names), sorted(described))

    def test_file(self):
        with tempfile.NamedTemporaryFile("w", suffix=".conf") as f:
            f.write("# comment\nlog-level = debug\nmemory\nitem-cache 1M\nthreads 1\n")
            f.flush()
            with Daemon("--config", f.name) as d:
                self.assertEqual(d.stop(), 0)
            f.write("colour green\n")
            f.flush()
            self.refused(f"{f.name}:6: unknown option 'colour'", "--config", f.name)
            f.seek(0)
            f.truncate()
            f.write("data " + "x" * 3000 + "\n")
            f.flush()
            self.refused(":1: bad value 'xxx", "--config", f.name)
            f.seek(0)
            f.truncate()
            f.write("\nconfig /etc/other\n")
            f.flush()
            self.refused(f"{f.name}:2: one file cannot name another", "--config", f.name)


class Signals(unittest.TestCase):
    def test_stop(self):
        for number in (signal.SIGTERM, signal.SIGINT):
            with DataDirectory() as data:
                with Daemon(data=data) as d, Wire(d.http) as idle, Wire(d.http) as w:
                    idle.send(request("ListTables", {})).answer()
                    w.send(request("CreateTable", TABLE)).answer()
                    began = time.monotonic()
                    d.process.send_signal(number)
                    self.assertEqual(d.process.wait(timeout=10), 0)
                    self.assertLess(time.monotonic() - began, 3)
                with Daemon(data=data) as d, Wire(d.http) as w:
                    self.assertIn(b'"wire"', w.send(request("ListTables", {})).answer()[2])

    def test_clients_that_say_nothing_hold_up_no_end(self):
        with Daemon() as d:
            silent = [socket.create_connection(a) for a in (d.http, d.msgpack, d.admin)]
            time.sleep(0.2)
            began = time.monotonic()
            self.assertEqual(d.stop(), 0)
            self.assertLess(time.monotonic() - began, 3)
            self.assertEqual(d.stderr().splitlines()[-1].split()[1:], ["info:", "stopped"])
            for s in silent:
                s.close()

    def test_msgpack_clients_are_told_what_was_carried_out(self):
        """Pipelined writes until the connection ends: each that was answered, and no other, is there after the restart."""
        with DataDirectory() as data:
            with Daemon(data=data) as d:
                with Wire(d.http) as w:
                    w.send(request("CreateTable", TABLE)).answer()
                with Frames(d.msgpack) as quiet, Frames(d.msgpack) as busy:
                    answered, last, sent = set(), None, 0
                    while last is None:
                        burst = range(sent, sent + 20)
                        sent += 20
                        busy.send(b"".join(frame(REQUEST, PUT_ITEM, n + 1, b"\x82\x05\x81" + text("p") + text("k%d" % n)
                                                 + b"\x0a" + text(TABLE["TableName"])) for n in burst))
                        if sent == 200:
                            d.process.send_signal(signal.SIGTERM)
                        for _ in burst:
                            kind, code, number, body = busy.next()
                            if number == 0:
                                last = (kind, code)
                                break
                            self.assertEqual(kind, ANSWER, body)
                            answered.add("k%d" % (number - 1))
                    self.assertEqual(last, (ERROR, 21))
                    try:
                        self.assertTrue(busy.at_end())
                    except ConnectionResetError:
                        pass        # what it had sent since met a closed socket
                    self.assertEqual(quiet.next()[:3], (ERROR, 21, 0))
                    self.assertTrue(quiet.at_end())
                self.assertEqual(d.process.wait(timeout=10), 0)
            with Daemon(data=data) as d:
                found = d.client().scan(TableName=TABLE["TableName"])["Items"]
                self.assertEqual({i["p"]["S"] for i in found}, answered)

    def test_standard_descriptors_may_be_closed(self):
        with DataDirectory() as data, subprocess.Popen(["sh", "-c", 'exec "$0" "$@" <&- 2>&-', BINARY, "--data", data, *FREE],
                                                       stdout=subprocess.PIPE, text=True) as p:
            self.assertIn(" ready: ", p.stdout.readline())
            self.assertEqual(os.readlink("/proc/%d/fd/2" % p.pid), "/dev/null")
            p.terminate()
            self.assertEqual(p.wait(timeout=20), 0)

    def test_half_sent_request_is_waited_for(self):
        data = request("ListTables", {})
        with Daemon() as d, Wire(d.http) as w:
            w.send(data[:-1])
            time.sleep(0.2)
            d.process.send_signal(signal.SIGTERM)
            time.sleep(0.4)
            status, headers, _ = w.send(data[-1:]).answer()
            self.assertEqual((status, headers["connection"]), (200, "close"))
            self.assertTrue(w.at_end())
            w.socket.close()
            self.assertEqual(d.process.wait(timeout=10), 0)

    def test_drain_limit_and_second_signal(self):
        with Daemon("--drain-timeout", "500") as d, Wire(d.http) as w:
            w.send(request("ListTables", {})[:-1])
            time.sleep(0.2)
            d.process.send_signal(signal.SIGTERM)
            self.assertEqual(d.process.wait(timeout=5), 0)
        with Daemon() as d, Wire(d.http) as w:
            w.send(request("ListTables", {})[:-1])
            time.sleep(0.2)
            d.process.send_signal(signal.SIGTERM)
            time.sleep(0.2)
            d.process.send_signal(signal.SIGTERM)
            self.assertEqual(d.process.wait(timeout=5), -signal.SIGTERM)
            d.killed = True

    def test_a_clock_that_is_moved_far_holds_up_no_end(self):
        """What was due, and is not done yet, is left for later."""
        items = 20000
        with DataDirectory() as data:
            with Daemon("--test-clock", data=data) as d, Wire(d.http) as w, Wire(d.admin) as admin:
                name = TABLE["TableName"]
                w.send(request("CreateTable", TABLE)).answer()
                w.send(request("UpdateTimeToLive", {"TableName": name, "TimeToLiveSpecification": {
                    "AttributeName": "exp", "Enabled": True}})).answer()
                due = {"N": str(int(time.time()) + 3600)}
                for n in range(0, items, 25):
                    puts = [{"PutRequest": {"Item": {"p": {"S": "k%d" % i}, "exp": due}}} for i in range(n, n + 25)]
                    self.assertEqual(w.send(request("BatchWriteItem", {"RequestItems": {name: puts}})).answer()[0], 200)
                admin.send(b"POST /clock?advance=4000 HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n")
                while self.count(w) == items:
                    pass
                self.assertEqual(d.stop(), 0)
            with Daemon("--test-clock", data=data) as d, Wire(d.http) as w:
                self.assertGreater(self.count(w), 0)

    def count(self, w):
        return json.loads(w.send(request("DescribeTable", {"TableName": TABLE["TableName"]})).answer()[2])["Table"]["ItemCount"]

    def test_reload(self):
        with tempfile.NamedTemporaryFile("w", suffix=".conf") as f, Daemon("--config", f.name) as d, Wire(d.http) as w:
            f.write("log-level debug\nitem-cache 1M\nidle-timeout 300\n")
            f.flush()
            d.process.send_signal(signal.SIGHUP)
            d.await_log("--log-level changed")
            self.assertRegex(d.await_log("--item-cache changed"), "--item-cache changed: .* restart")
            self.assertEqual(w.send(request("ListTables", {})).answer()[0], 200)
            self.assertTrue(w.at_end())    # by the new idle limit
            f.write("nonsense\n")
            f.flush()
            d.process.send_signal(signal.SIGHUP)
            d.await_log("nothing changed")


class Threads(unittest.TestCase):
    def test_names(self):
        with Daemon("--threads", "2", "--reader-threads", "1") as d:
            names = []
            for task in os.listdir(f"/proc/{d.pid}/task"):
                with open(f"/proc/{d.pid}/task/{task}/comm") as f:
                    names.append(f.read().strip())
        self.assertEqual(sorted(names), sorted([
            "dynaxd", "worker-0", "worker-1", "reader-0", "offload-0", "offload-1", "admin-0", "writer",
            "checkpointer", "log-keeper", "keeper", "propagation", "backfill"]))


class Descriptors(unittest.TestCase):
    def test_more_connections_than_descriptors(self):
        with Daemon("--threads", "1", descriptors=256) as d:
            wires = []
            for _ in range(200):
                wires.append(Wire(d.http, timeout=1))
            for _ in range(3):
                for w in wires[:100]:
                    self.assertEqual(w.send(request("ListTables", {})).answer()[0], 200)
            with self.assertRaises(OSError):
                wires[-1].send(request("ListTables", {})).answer()
            with open("/proc/%d/stat" % d.pid) as f:
                ticks = sum(map(int, f.read().rsplit(")", 1)[1].split()[11:13]))
            time.sleep(1)
            with open("/proc/%d/stat" % d.pid) as f:
                self.assertLess(sum(map(int, f.read().rsplit(")", 1)[1].split()[11:13])) - ticks, 20)    # no spinning
            for w in wires:
                w.socket.close()
            time.sleep(0.5)
            for _ in range(10):
                with Wire(d.http) as w:
                    self.assertEqual(w.send(request("ListTables", {})).answer()[0], 200)
            self.assertLess(d.stderr().count("not accepting"), 6)


def prometheus(text):
    """Metrics of a text in Prometheus' format, with their types; fails if it is not one. Its rules: a metric's HELP, TYPE and
    lines stand together, no line twice, counters end in _total; a histogram's buckets grow up to +Inf, which is its count."""
    types, helped, lines = {}, set(), {}
    for line in text.splitlines():
        head = re.fullmatch(r"# (HELP|TYPE) ([a-zA-Z_:][a-zA-Z0-9_:]*) (.+)", line)
        if head and head[1] == "HELP":
            assert head[2] not in helped, line
            helped.add(head[2])
        elif head:
            assert head[2] not in types and head[3] in ("counter", "gauge", "histogram"), line
            assert (head[3] == "counter") == head[2].endswith("_total"), line
            current = head[2]
            types[current] = head[3]
        else:
            sample = re.fullmatch(r'([a-zA-Z_:][a-zA-Z0-9_:]*)((?:\{\w+="[^"\\\n]*"(?:,\w+="[^"\\\n]*")*\})?) ([0-9.e+-]+)', line)
            assert sample, line
            name = re.sub("_(bucket|sum|count)$", "", sample[1]) if types[current] == "histogram" else sample[1]
            assert name == current and (sample[1], sample[2]) not in lines, line
            lines[sample[1], sample[2]] = float(sample[3])
    assert helped == set(types)
    for (name, labels), count in lines.items():
        if name.endswith("_count") and types.get(name[:-6]) == "histogram":
            buckets = [v for (n, l), v in lines.items() if n == name[:-5] + "bucket" and l.startswith(labels[:-1] + ",")]
            assert buckets == sorted(buckets) and buckets[-1] == count > 0
    return types


class Admin(unittest.TestCase):
    def get(self, d, path):
        with Wire(d.admin) as w:
            status, _, body = w.send(b"GET %s HTTP/1.1\r\nHost: x\r\n\r\n" % path).answer()
            return status, body.decode()

    def test_pages(self):
        with Daemon() as d:
            with Wire(d.http) as w:
                w.send(request("ListTables", {})).answer()
                w.send(request("DescribeTable", {"TableName": "none"})).answer()
            self.assertEqual(self.get(d, b"/healthz"), (200, "ok\n"))
            self.assertEqual(self.get(d, b"/readyz"), (200, "ready\n"))
            self.assertEqual(self.get(d, b"/else")[0], 404)
            status, text = self.get(d, b"/metrics")
            self.assertEqual(status, 200)
            self.assertIn('dynax_requests_total{op="ListTables"} 1\n', text)
            self.assertIn('{op="DescribeTable",type="ResourceNotFoundException",code="5"} 1\n', text)
            self.assertIn("process_open_fds", text)

    def test_web_pages_change_nothing(self):
        with Daemon() as d:
            def post(more):
                with Wire(d.admin) as w:
                    return w.send(b"POST /index-delay?ms=7 HTTP/1.1\r\nHost: x\r\n%sContent-Length: 0\r\n\r\n" % more).answer()[0]
            self.assertEqual(post(b"Origin: http://else.where\r\n"), 400)
            self.assertEqual(self.get(d, b"/index-delay"), (200, "0\n"))
            self.assertEqual(post(b""), 200)
            self.assertEqual(self.get(d, b"/index-delay"), (200, "7\n"))

    def test_metrics_are_in_the_format_and_in_the_documentation(self):
        with Daemon() as d, Wire(d.http) as w:
            w.send(request("CreateTable", TABLE)).answer()
            w.send(request("GetItem", {"TableName": TABLE["TableName"], "Key": {}})).answer()
            types = prometheus(self.get(d, b"/metrics")[1])
        with open(os.path.join(ROOT, "docs", "metrics.md"), encoding="utf-8") as f:
            rows = [line for line in f if line.startswith("| `")]
        documented = {name: row for row in rows for name in re.findall(r"`((?:dynax|process)_\w+)", row.split(" | ")[0])}
        self.assertEqual(set(documented), set(types))
        for name, kind in types.items():
            self.assertIn(kind, documented[name].split(" | ")[1], name)

    def test_the_clock_is_moved_beside(self):
        """A long advance holds up nothing but those behind it, and minds neither a client's next request nor its leaving."""
        def call(operation, **body):
            status, _, text = wire.send(request(operation, body)).answer()
            self.assertEqual(status, 200, text)
            return text

        def put(pks, ends):
            call("BatchWriteItem", RequestItems={"wire": [
                {"PutRequest": {"Item": {"p": {"S": str(n)}, "ends": {"N": str(ends)}}}} for n in pks]})

        def post(seconds):
            return b"POST /clock?advance=%d HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n" % seconds

        health = b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"
        with Daemon("--test-clock") as d, Wire(d.http) as wire, Wire(d.admin) as first, Wire(d.admin) as second, \
                Wire(d.admin) as other:
            call("CreateTable", **TABLE)
            call("UpdateTimeToLive", TableName="wire", TimeToLiveSpecification={"Enabled": True, "AttributeName": "ends"})
            begun, overtaken = int(time.time()), 0
            for attempt in range(1, 6):         # this process may be held up for longer than an advance takes
                for n in range(0, 2500, 25):
                    put(range(n, n + 25), begun + attempt * 1000 - 500)
                first.send(post(998) + health)
                with Wire(d.admin) as leaves:
                    leaves.send(post(1))
                second.send(post(1))
                self.assertEqual(other.send(health).answer()[0], 200)
                overtaken += select.select([first.socket, second.socket], [], [], 0)[0] == []
                self.assertEqual([first.answer()[2], first.answer()[2], second.answer()[2]], [b"ok\n"] * 3)
                self.assertIn(b'"Count":0', call("Scan", TableName="wire", Select="COUNT"))
            self.assertGreater(overtaken, 0)


if __name__ == "__main__":
    unittest.main()
