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


@pytest.fixture(scope="module")
def ddb(dynax):
    return dynax.client()


@pytest.fixture(scope="module", params=["http", "msgpack"])
def db(request):
    """A database behind either door (doors.py)."""
    import doors

    if request.param == "msgpack" and not os.path.exists(doors.LIBRARY):
        pytest.skip("no libdynax.so to speak msgpack with")
    with Daemon() as daemon:
        door = (doors.HttpDoor if request.param == "http" else doors.MsgpackDoor)(daemon)
        yield doors.Database(door, daemon)
        door.close()
        status = daemon.stop()
        assert status == 0, daemon.stderr()


@pytest.fixture(scope="module")
def twin():
    """Two daemons, one behind each door, that must answer alike (twin.py)."""
    import doors
    from twin import twins

    if not os.path.exists(doors.LIBRARY):
        pytest.skip("no libdynax.so to speak msgpack with")
    with twins() as t:
        yield t
