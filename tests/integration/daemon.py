"""daemon - start the dynaxd under test on free ports of 127.0.0.1, and end it by pid.

The binary is build/dynaxd, or what DYNAXD names. Used by every integration test; runs with Debian's python3 alone.

A daemon that ends with a status of its own, or writes a sanitizer's report, fails the test that uses it, whatever the test
itself looks at: leave by `with`, or call end()."""

import os
import re
import resource
import shutil
import signal
import subprocess
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BINARY = os.environ.get("DYNAXD", os.path.join(ROOT, "build", "dynaxd"))
READY = re.compile(r"ready: http ([\d.]+):(\d+), msgpack ([\d.]+):(\d+), admin ([\d.]+):(\d+)")
SANITIZER = re.compile(r"(ERROR|WARNING|SUMMARY): \w+Sanitizer|: runtime error: ")


class Daemon:
    """A running dynaxd. `data` None means --memory; else a directory that outlives the process. `descriptors`: as many as
    it may have open."""

    def __init__(self, *options, data=None, env=None, timeout=20, descriptors=None):
        self.data = data
        self.killed = False             # on purpose
        where = ["--data", data] if data else ["--memory"]
        self.log = tempfile.TemporaryFile(mode="a+")     # shared with the process: appending, reads move nothing
        self.process = subprocess.Popen(
            [BINARY, *where, "--http", "127.0.0.1:0", "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0", *options],
            stdout=subprocess.PIPE, stderr=self.log, text=True, env={**os.environ, **(env or {})},
            preexec_fn=descriptors and (lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (descriptors, descriptors))))
        self._await_ready(timeout)

    def _await_ready(self, timeout):
        deadline = time.monotonic() + timeout
        while time.monotonic() < deadline:
            line = self.process.stdout.readline()
            if not line:
                self.process.wait(timeout=5)
                raise RuntimeError(f"dynaxd ended with {self.process.returncode}: {self.stderr()}")
            found = READY.search(line)
            if found:
                self.http = (found[1], int(found[2]))
                self.msgpack = (found[3], int(found[4]))
                self.admin = (found[5], int(found[6]))
                return
        self.kill()
        raise RuntimeError("dynaxd did not become ready: " + self.stderr())

    @property
    def url(self):
        return "http://%s:%d" % self.http

    @property
    def admin_url(self):
        return "http://%s:%d" % self.admin

    @property
    def pid(self):
        return self.process.pid

    def stderr(self):
        self.log.flush()
        self.log.seek(0)
        return self.log.read()

    def await_log(self, text, timeout=10):
        """Wait until its log has this text; gives the whole log."""
        deadline = time.monotonic() + timeout
        while text not in (log := self.stderr()):
            assert time.monotonic() < deadline, f"no {text!r} in: {log}"
            time.sleep(0.01)
        return log

    def stop(self, timeout=60):
        """SIGTERM and wait; returns the exit status."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        try:
            return self.process.wait(timeout=timeout)
        finally:
            self.kill()

    def kill(self):
        """SIGKILL, if it still runs."""
        if self.process.poll() is None:
            self.killed = True
            self.process.kill()
        self.process.wait()
        self.process.stdout.close()

    def end(self):
        """SIGTERM, unless it has ended; fails if anything was wrong with it."""
        status = self.stop()
        text = self.stderr()
        if SANITIZER.search(text) or (status != 0 and not self.killed):
            raise AssertionError(f"dynaxd ended with {status}:\n{text}")

    def client(self, service="dynamodb", **more):
        """A boto3 client of this daemon; retries are off, so that a test sees every error."""
        import boto3
        from botocore.config import Config
        return boto3.client(service, endpoint_url=self.url, region_name="us-east-1", aws_access_key_id="test",
                            aws_secret_access_key="test",
                            config=Config(retries={"max_attempts": 0}, read_timeout=30, **more))

    def __enter__(self):
        return self

    def __exit__(self, failed, *_):
        if failed:
            print("dynaxd's log ends:\n" + self.stderr()[-4000:])
        self.end()


class DataDirectory:
    """A data directory for tests that restart the daemon."""

    def __enter__(self):
        self.path = tempfile.mkdtemp(prefix="dynax-test-")
        return self.path

    def __exit__(self, *_):
        shutil.rmtree(self.path, ignore_errors=True)
