"""The programs of examples/: each runs as it stands against a new server, and all print the same shop."""

import os
import re
import shutil
import subprocess
import sys

import pytest
from daemon import ROOT, Daemon

BUILD = os.path.dirname(os.path.abspath(os.environ.get("DYNAX", os.path.join(ROOT, "build", "dynax"))))
MODULES = os.path.join(ROOT, "build", "js", "node_modules")


def source(name):
    with open(os.path.join(ROOT, "examples", name), encoding="utf-8") as f:
        return f.read()


def compiled(path, *more):
    program = path + ".out"
    subprocess.run(["cc", "-Wall", "-Wextra", "-Werror", "-I" + os.path.join(ROOT, "protocol", "client"), path,
                    os.path.join(BUILD, "libdynax.so"), *more, "-o", program], check=True, timeout=120)
    os.symlink(os.path.join(BUILD, "libdynax.so"), os.path.join(os.path.dirname(path), "libdynax.so.0"))
    return program


def check_shop(text):
    """Whatever way a language prints an item: its profile, two orders (the newest first), an order of two, and the end."""
    words = re.findall(r"[\w#@.-]+", text)
    profile, newer, older, line, meta = (words.index(w) for w in ("PROFILE", "ORDER#2025-06-12#o-9", "ORDER#2025-05-30#o-7",
                                                                  "ITEM#1", "META"))
    assert max(profile, words.index("Ana"), words.index("ana@x.io")) < min(newer, words.index("60"))
    assert newer < older < line < meta < words.index("SHIPPED")
    assert words.count("META") == 2 and words.count("ITEM#1") == 1
    assert re.search(r"ConditionalCheckFailedException\b.*The conditional request failed\n", text)
    assert text.endswith("The conditional request failed\n")


@pytest.mark.parametrize("name", ["ecommerce.sh", "ecommerce.py", "ecommerce.mjs", "ecommerce.c"])
def test_example(name, tmp_path):
    if name.endswith(".mjs"):
        if not os.path.isdir(MODULES):
            pytest.skip("the SDK is not installed: make integration-js does it")
        os.symlink(MODULES, tmp_path / "node_modules")
    if name.endswith(".c") and os.path.realpath(BUILD) != os.path.join(os.path.realpath(ROOT), "build"):
        pytest.skip("a sanitizer's library wants a program that is built with it")
    with Daemon() as d:
        path = str(tmp_path / name)
        with open(path, "w", encoding="utf-8") as f:
            f.write(source(name).replace("127.0.0.1:8000", "%s:%d" % d.http).replace("127.0.0.1:8111", "%s:%d" % d.msgpack))
        command = {".sh": ["sh", path], ".py": [sys.executable, path], ".mjs": [shutil.which("node") or "node", path]} \
            .get(os.path.splitext(name)[1]) or [compiled(path)]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=60, env={
            **os.environ, "PATH": BUILD + ":" + os.environ["PATH"], "DYNAX_ENDPOINT": "%s:%d" % d.msgpack,
            "LD_LIBRARY_PATH": str(tmp_path), "PYTHONUNBUFFERED": "1"})
        assert done.returncode == 0, done.stdout
        check_shop(done.stdout)
        assert d.stop() == 0


def test_the_pipeline(tmp_path):
    if os.path.realpath(BUILD) != os.path.join(os.path.realpath(ROOT), "build"):
        pytest.skip("a sanitizer's library wants a program that is built with it")
    with Daemon() as d:
        path = str(tmp_path / "pipeline.c")
        with open(path, "w", encoding="utf-8") as f:
            f.write(source("pipeline.c").replace("127.0.0.1:8111", "%s:%d" % d.msgpack))
        program = compiled(path, "-levent_core")
        env = {**os.environ, "LD_LIBRARY_PATH": str(tmp_path)}
        done = subprocess.run([program], capture_output=True, text=True, timeout=60, env=env)
        assert (done.returncode, done.stdout) == (0, "10000 written, 0 failed\n"), done.stderr
        assert d.client().describe_table(TableName="pipeline")["Table"]["ItemCount"] == 10000
        again = subprocess.run([program], capture_output=True, text=True, timeout=60, env=env)
        assert (again.returncode, again.stdout) == (1, "0 written, 10000 failed\n")
        assert again.stderr == "ConditionalCheckFailedException: The conditional request failed\n"
        assert d.stop() == 0


def test_the_readme_shows_the_example():
    with open(os.path.join(ROOT, "README.md"), encoding="utf-8") as f:
        assert source("ecommerce.py") in f.read()
