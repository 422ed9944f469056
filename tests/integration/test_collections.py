"""The limit of item collections, lowered so far that a test reaches it; over a crash, and in PartiQL's forms."""

import botocore.exceptions
import pytest

from daemon import Daemon, DataDirectory


def create(ddb):
    ddb.create_table(TableName="tab", BillingMode="PAY_PER_REQUEST",
                     KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}, {"AttributeName": "sk", "KeyType": "RANGE"}],
                     AttributeDefinitions=[{"AttributeName": n, "AttributeType": "S"} for n in ("pk", "sk", "l")],
                     LocalSecondaryIndexes=[{"IndexName": "lsi", "Projection": {"ProjectionType": "ALL"}, "KeySchema": [
                         {"AttributeName": "pk", "KeyType": "HASH"}, {"AttributeName": "l", "KeyType": "RANGE"}]}])


def put(ddb, pk, sk, size=100_000, **more):
    return ddb.put_item(TableName="tab", Item={"pk": {"S": pk}, "sk": {"S": sk}, "d": {"S": "x" * size}}, **more)


def refused(ddb, call):
    with pytest.raises(ddb.exceptions.ItemCollectionSizeLimitExceededException) as e:
        call()
    assert e.value.response["Error"]["Message"] == "Collection size exceeded."
    assert e.value.response["ResponseMetadata"]["HTTPStatusCode"] == 400


def test_a_collection_up_to_its_limit_and_after_a_crash():
    with DataDirectory() as data:
        with Daemon("--collection-bytes", "1M", data=data) as daemon:
            ddb = daemon.client()
            create(ddb)
            for i in range(10):
                metrics = put(ddb, "a", str(i), ReturnItemCollectionMetrics="SIZE")["ItemCollectionMetrics"]
                assert metrics == {"ItemCollectionKey": {"pk": {"S": "a"}}, "SizeEstimateRangeGB": [0.0, 1.0]}
            refused(ddb, lambda: put(ddb, "a", "10"))
            put(ddb, "b", "0")
            daemon.kill()
        with Daemon("--collection-bytes", "1M", data=data) as daemon:
            ddb = daemon.client()
            left = (1 << 20) - 10 * 100_007          # an item is its d and seven bytes
            refused(ddb, lambda: put(ddb, "a", "x", left - 6))
            put(ddb, "a", "x", left - 7)
            ddb.delete_item(TableName="tab", Key={"pk": {"S": "a"}, "sk": {"S": "0"}})
            put(ddb, "a", "0")


def test_partiql():
    with Daemon("--collection-bytes", "1K") as daemon:
        ddb = daemon.client()
        create(ddb)
        put(ddb, "a", "0", 1000)
        insert = {"Statement": "INSERT INTO tab VALUE {'pk':'a','sk':'1','d':'more than there is'}"}
        refused(ddb, lambda: ddb.execute_statement(**insert))
        other = {"Statement": "INSERT INTO tab VALUE {'pk':'b','sk':'1'}"}
        first, second = ddb.batch_execute_statement(Statements=[insert, other])["Responses"]
        assert first["Error"] == {"Code": "ItemCollectionSizeLimitExceeded", "Message": "Collection size exceeded."}
        assert "Error" not in second
        with pytest.raises(botocore.exceptions.ClientError) as e:
            ddb.execute_transaction(TransactStatements=[insert])
        assert e.value.response["CancellationReasons"] == [
            {"Code": "ItemCollectionSizeLimitExceeded", "Message": "Collection size exceeded."}]
