"""Slow tables: the SDK's waiters wait for them, in real time; on a test's clock they change when it says so."""

import urllib.request

import pytest

from daemon import Daemon, DataDirectory

KEYS = dict(KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}], BillingMode="PAY_PER_REQUEST",
            AttributeDefinitions=[{"AttributeName": "pk", "AttributeType": "S"}])


def status(ddb, table="slow"):
    return ddb.describe_table(TableName=table)["Table"]["TableStatus"]


def test_waiters():
    with Daemon("--table-delay", "300") as daemon:
        ddb = daemon.client()
        ddb.create_table(TableName="slow", **KEYS)
        assert status(ddb) == "CREATING"
        ddb.get_waiter("table_exists").wait(TableName="slow", WaiterConfig={"Delay": 0.05, "MaxAttempts": 100})
        ddb.put_item(TableName="slow", Item={"pk": {"S": "a"}})
        assert ddb.get_item(TableName="slow", Key={"pk": {"S": "a"}})["Item"] == {"pk": {"S": "a"}}
        ddb.delete_table(TableName="slow")
        assert status(ddb) == "DELETING"
        with pytest.raises(ddb.exceptions.ResourceNotFoundException):
            ddb.get_item(TableName="slow", Key={"pk": {"S": "a"}})      # though it is in the cache
        ddb.get_waiter("table_not_exists").wait(TableName="slow", WaiterConfig={"Delay": 0.05, "MaxAttempts": 100})
        assert ddb.list_tables()["TableNames"] == []


def test_by_the_clock_and_over_a_crash():
    with DataDirectory() as data:
        with Daemon("--table-delay", "60000", "--test-clock", data=data) as daemon:
            ddb = daemon.client()
            ddb.create_table(TableName="slow", **KEYS)
            urllib.request.urlopen(daemon.admin_url + "/clock?advance=59", data=b"").read()
            assert status(ddb) == "CREATING"
            urllib.request.urlopen(daemon.admin_url + "/clock?advance=1", data=b"").read()
            assert status(ddb) == "ACTIVE"
            ddb.delete_table(TableName="slow")
            ddb.create_table(TableName="new", **KEYS)
            daemon.kill()
        with Daemon("--table-delay", "60000", "--test-clock", data=data) as daemon:
            ddb = daemon.client()
            assert ddb.list_tables()["TableNames"] == ["new"]
            assert status(ddb, "new") == "ACTIVE"
