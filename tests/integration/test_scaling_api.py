"""test_scaling_api - Application Auto Scaling as SDKs and the AWS command line speak it to the same address."""

import pytest

from daemon import DataDirectory, Daemon
from test_autoscaling import autoscaling, create, minute, provisioned
from test_capacity import advance

TABLE = {"ServiceNamespace": "dynamodb", "ResourceId": "table/tab", "ScalableDimension": "dynamodb:table:WriteCapacityUnits"}
INDEX = {"ServiceNamespace": "dynamodb", "ResourceId": "table/tab/index/byg", "ScalableDimension": "dynamodb:index:ReadCapacityUnits"}


def policy(target, metric="DynamoDBWriteCapacityUtilization", **more):
    return {"PolicyType": "TargetTrackingScaling", "TargetTrackingScalingPolicyConfiguration": {
        "TargetValue": target, "PredefinedMetricSpecification": {"PredefinedMetricType": metric}, **more}}


def test_targets_and_policies():
    with DataDirectory() as data:
        with Daemon("--test-clock", data=data) as daemon:
            client, scaling = daemon.client(), daemon.client("application-autoscaling")
            create(client)
            scaling.register_scalable_target(**TABLE, MinCapacity=6, MaxCapacity=50)
            scaling.register_scalable_target(**INDEX, MinCapacity=1, MaxCapacity=9)
            assert provisioned(client)["WriteCapacityUnits"] == 6, "brought inside"
            arn = scaling.put_scaling_policy(PolicyName="mine", **TABLE, **policy(50.0, ScaleInCooldown=60, ScaleOutCooldown=30))
            assert arn["PolicyARN"].endswith(":resource/dynamodb/table/tab:policyName/mine") and arn["Alarms"] == []
            minute(daemon, client, 360)
            minute(daemon, client, 360)
            assert provisioned(client)["WriteCapacityUnits"] == 12
        with Daemon("--test-clock", data=data) as daemon:
            client, scaling = daemon.client(), daemon.client("application-autoscaling")
            targets = scaling.describe_scalable_targets(ServiceNamespace="dynamodb")["ScalableTargets"]
            assert [(t["ResourceId"], t["ScalableDimension"], t["MinCapacity"], t["MaxCapacity"]) for t in targets] == [
                ("table/tab", "dynamodb:table:WriteCapacityUnits", 6, 50), ("table/tab/index/byg", "dynamodb:index:ReadCapacityUnits", 1, 9)]
            assert targets[0]["CreationTime"].year >= 2020 and targets[0]["RoleARN"].startswith("arn:aws:iam::")
            some = scaling.describe_scalable_targets(ServiceNamespace="dynamodb", ResourceIds=["table/tab", "table/other"])
            assert len(some["ScalableTargets"]) == 1
            assert scaling.describe_scalable_targets(ServiceNamespace="ecs")["ScalableTargets"] == []
            found = scaling.describe_scaling_policies(ServiceNamespace="dynamodb", PolicyNames=["mine"])["ScalingPolicies"]
            assert found[0]["TargetTrackingScalingPolicyConfiguration"] == {
                "TargetValue": 50.0, "PredefinedMetricSpecification": {"PredefinedMetricType": "DynamoDBWriteCapacityUtilization"},
                "ScaleOutCooldown": 30, "ScaleInCooldown": 60, "DisableScaleIn": False}
            assert (found[0]["PolicyName"], found[0]["PolicyType"], found[0]["ResourceId"], len(found)) == (
                "mine", "TargetTrackingScaling", "table/tab", 1)
            scaling.register_scalable_target(**TABLE, MaxCapacity=8)
            assert provisioned(client)["WriteCapacityUnits"] == 8
            assert autoscaling(daemon, "tab")[0]["TargetValue"] == 50
            scaling.delete_scaling_policy(PolicyName="mine", **TABLE)
            assert scaling.describe_scaling_policies(ServiceNamespace="dynamodb")["ScalingPolicies"] == []
            advance(daemon, 3600)
            assert provisioned(client)["WriteCapacityUnits"] == 8, "a target without a policy has a range alone"
            scaling.deregister_scalable_target(**TABLE)
            assert len(scaling.describe_scalable_targets(ServiceNamespace="dynamodb")["ScalableTargets"]) == 1


def test_never_in():
    with Daemon("--test-clock") as daemon:
        client, scaling = daemon.client(), daemon.client("application-autoscaling")
        create(client)
        scaling.register_scalable_target(**TABLE, MinCapacity=1, MaxCapacity=50)
        scaling.put_scaling_policy(PolicyName="mine", **TABLE, **policy(50.0, DisableScaleIn=True))
        advance(daemon, 1800)
        assert provisioned(client)["WriteCapacityUnits"] == 5
        scaling.put_scaling_policy(PolicyName="mine", **TABLE, **policy(50.0))
        advance(daemon, 60)
        assert provisioned(client)["WriteCapacityUnits"] == 1


@pytest.fixture(scope="module")
def scaling():
    with Daemon() as daemon:
        create(daemon.client())
        client = daemon.client("application-autoscaling")
        client.register_scalable_target(**INDEX, MinCapacity=1, MaxCapacity=9)
        client.put_scaling_policy(PolicyName="one", **INDEX, **policy(70, "DynamoDBReadCapacityUtilization"))
        yield client


@pytest.mark.parametrize("operation, request_, code, text", [
    ("register_scalable_target", {**TABLE, "ResourceId": "table/none", "MinCapacity": 1, "MaxCapacity": 2}, "ValidationException",
     "DynamoDB table does not exist: table/none"),
    ("register_scalable_target", {**TABLE, "MinCapacity": 1}, "ValidationException", "MaxCapacity must both be specified"),
    ("register_scalable_target", {**TABLE, "MinCapacity": 3, "MaxCapacity": 2}, "ValidationException", "not greater than the maximum"),
    ("register_scalable_target", {**TABLE, "ScalableDimension": "dynamodb:index:ReadCapacityUnits", "MinCapacity": 1, "MaxCapacity": 2},
     "ValidationException", "Unsupported service namespace, resource type or scalable dimension"),
    ("register_scalable_target", {**TABLE, "MinCapacity": 1, "MaxCapacity": 2, "SuspendedState": {"DynamicScalingInSuspended": True}},
     "ValidationException", "cannot be suspended"),
    ("deregister_scalable_target", TABLE, "ObjectNotFoundException",
     "No scalable target found for service namespace: dynamodb, resource ID: table/tab, scalable dimension: dynamodb:table:WriteCapacityUnits"),
    ("put_scaling_policy", {"PolicyName": "p", **TABLE, **policy(50)}, "ObjectNotFoundException", "No scalable target registered"),
    ("put_scaling_policy", {"PolicyName": "two", **INDEX, **policy(50, "DynamoDBReadCapacityUtilization")}, "ValidationException",
     "Only one TargetTrackingScaling policy"),
    ("put_scaling_policy", {"PolicyName": "one", **INDEX, **policy(50)}, "ValidationException", "does not go with the scalable dimension"),
    ("put_scaling_policy", {"PolicyName": "one", **INDEX, **policy(95, "DynamoDBReadCapacityUtilization")}, "ValidationException",
     "from 20 to 90 percent"),
    ("put_scaling_policy", {"PolicyName": "one", **INDEX, "PolicyType": "StepScaling"}, "ValidationException", "no other policy type"),
    ("delete_scaling_policy", {"PolicyName": "two", **INDEX}, "ObjectNotFoundException", "No scaling policy found"),
])
def test_refused(scaling, operation, request_, code, text):
    with pytest.raises(scaling.exceptions.ClientError) as refused:
        getattr(scaling, operation)(**request_)
    assert refused.value.response["Error"]["Code"] == code
    assert text in refused.value.response["Error"]["Message"]
