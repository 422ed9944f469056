"""Fixtures shared by the integration tests."""

import os
import sys

import pytest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from daemon import Daemon  # noqa: E402


@pytest.fixture(scope="module")
def dynax():
    """One ephemeral daemon for a test file."""
    with Daemon() as d:
        yield d
        status = d.stop()
        assert status == 0, d.stderr()


@pytest.fixture(scope="module")
def ddb(dynax):
    return dynax.client()
