"""server - what the drivers in this folder share: a server on a port of its own, and `dynax bench` against it."""

import json
import os
import random
import shutil
import socket
import subprocess
import sys
import tempfile
import time

BUILD = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "build")
KEYS, CONNECTIONS = 100_000, 16


def need(*programs):
    for name in programs:
        if not os.path.exists(os.path.join(BUILD, name)):
            sys.exit(f"build/{name} is missing: run make bench")


def again(do, tries=4):
    """What do() gives, if need be at a later try."""
    for left in reversed(range(tries)):
        try:
            return do()
        except (OSError, RuntimeError) as e:
            if left == 0:
                raise
            print(f"({e}: once more)", file=sys.stderr, flush=True)


def free_port():
    """Below the ports that the kernel gives to outgoing connections, one of which might else take it before the server does."""
    for port in random.sample(range(10_000, 32_000), 100):
        with socket.socket() as s:
            try:
                s.bind(("127.0.0.1", port))
                return port
            except OSError:
                continue
    sys.exit("there is no free port")


class Server:
    """A process that serves `protocol` on a port of its own."""

    def __init__(self, name, protocol, command, keys=KEYS, cwd=None, warm_up=0):
        self.name, self.protocol, self.command, self.keys, self.cwd, self.warm_up = name, protocol, command, keys, cwd, warm_up
        self.port = free_port()
        self.process = self.log = None

    def missing(self):
        return shutil.which(self.command(self.port)[0]) is None

    def start(self):
        self.log = tempfile.TemporaryFile()
        self.process = subprocess.Popen(self.command(self.port), stdout=self.log, stderr=subprocess.STDOUT, cwd=self.cwd)
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline and self.process.poll() is None:
            try:
                socket.create_connection(("127.0.0.1", self.port), 1).close()
                return
            except OSError:
                time.sleep(0.05)
        self.log.seek(0)
        raise RuntimeError(f"{self.name} did not start: {self.log.read().decode(errors='replace')[-500:]}")

    def stop(self):
        if self.process and self.process.poll():
            self.log.seek(0)
            print(f"({self.name} ended with {self.process.poll()}: {self.log.read().decode(errors='replace')[-500:]})",
                  file=sys.stderr, flush=True)
        if self.process and self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(10)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()

    def bench_command(self, *options):
        return [os.path.join(BUILD, "dynax"), "bench", "--protocol", self.protocol, "--endpoint", f"127.0.0.1:{self.port}", "--keys",
                str(self.keys), "--connections", str(CONNECTIONS), "--server-pid", str(self.process.pid), "--json",
                *map(str, options)]

    def bench(self, *options):
        done = subprocess.run(self.bench_command(*options), capture_output=True, text=True)
        if done.returncode != 0:
            raise RuntimeError(f"{self.name}: {done.stderr.strip() or done.stdout.strip()}")
        return json.loads(done.stdout)
