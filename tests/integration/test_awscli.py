"""Debian's AWS CLI, as its users type it: tables, items, queries by index, pages, transactions."""

import json
import os
import subprocess

import pytest

AWS = os.environ.get("AWS", "/usr/bin/aws")


class Failed(Exception):
    pass


@pytest.fixture(scope="module")
def aws(dynax, tmp_path_factory):
    home = str(tmp_path_factory.mktemp("home"))
    env = {"PATH": "/usr/bin:/bin", "HOME": home, "LANG": "C.UTF-8", "AWS_ACCESS_KEY_ID": "any", "AWS_SECRET_ACCESS_KEY": "any",
           "AWS_DEFAULT_REGION": "us-east-1", "AWS_PAGER": "", "AWS_EC2_METADATA_DISABLED": "true", "AWS_MAX_ATTEMPTS": "1"}

    def run(command, *args):
        words = [json.dumps(a) if isinstance(a, (dict, list)) else str(a) for a in args]
        done = subprocess.run([AWS, "--endpoint-url", dynax.url, "--output", "json", *command.split(), *words], env=env,
                              capture_output=True, text=True, timeout=60)
        if done.returncode:
            raise Failed(done.stderr)
        return json.loads(done.stdout) if done.stdout.strip() else {}
    return run


def S(text):
    return {"S": text}


def N(number):
    return {"N": str(number)}


@pytest.fixture(scope="module")
def music(aws):
    """Shorthand syntax, a waiter, a batch, and a time to live."""
    made = aws("dynamodb create-table --table-name Music --attribute-definitions AttributeName=Artist,AttributeType=S "
               "AttributeName=Song,AttributeType=S AttributeName=Genre,AttributeType=S AttributeName=Year,AttributeType=N "
               "--key-schema AttributeName=Artist,KeyType=HASH AttributeName=Song,KeyType=RANGE --billing-mode PAY_PER_REQUEST "
               "--tags Key=team,Value=records",
               "--global-secondary-indexes", "IndexName=ByGenre,KeySchema=[{AttributeName=Genre,KeyType=HASH},"
               "{AttributeName=Year,KeyType=RANGE}],Projection={ProjectionType=INCLUDE,NonKeyAttributes=[Plays]}")
    assert made["TableDescription"]["TableName"] == "Music"
    aws("dynamodb wait table-exists --table-name Music")
    items = [{"Artist": S("Ana"), "Song": S("s%02d" % i), "Year": N(2000 + i), "Plays": N(i),
              **({"Genre": S("fado")} if i % 2 else {})}
             for i in range(20)]
    left = aws("dynamodb batch-write-item --request-items", {"Music": [{"PutRequest": {"Item": i}} for i in items]})
    assert left == {"UnprocessedItems": {}}
    aws("dynamodb update-time-to-live --table-name Music --time-to-live-specification Enabled=true,AttributeName=Expires")
    return made["TableDescription"]["TableArn"]


def test_tables(aws, music):
    table = aws("dynamodb describe-table --table-name Music")["Table"]
    assert table["TableStatus"] == "ACTIVE" and table["GlobalSecondaryIndexes"][0]["IndexStatus"] == "ACTIVE"
    assert aws("dynamodb list-tables") == {"TableNames": ["Music"]}
    assert aws("dynamodb list-tags-of-resource --resource-arn", music)["Tags"] == [{"Key": "team", "Value": "records"}]
    assert aws("dynamodb describe-time-to-live --table-name Music") == {
        "TimeToLiveDescription": {"TimeToLiveStatus": "ENABLED", "AttributeName": "Expires"}}
    assert "AccountMaxReadCapacityUnits" in aws("dynamodb describe-limits")
    with pytest.raises(Failed, match=r"\(ResourceInUseException\).* Table already exists: Music"):
        aws("dynamodb create-table --table-name Music --attribute-definitions AttributeName=a,AttributeType=S "
            "--key-schema AttributeName=a,KeyType=HASH --billing-mode PAY_PER_REQUEST")
    with pytest.raises(Failed, match=r"\(ResourceNotFoundException\)"):
        aws("dynamodb describe-table --table-name Nothing")


def test_items(aws, music):
    key = {"Artist": S("Bo"), "Song": S("one")}
    item = {**key, "Plays": N(1), "Labels": {"SS": ["a", "b"]}, "Trail": {"L": [S("made")]}, "Cover": {"B": "AAEC/w=="},
            "Note": {"M": {"deep": {"M": {"yes": {"BOOL": True}, "none": {"NULL": True}}}}}}
    aws("dynamodb put-item --table-name Music --item", item, "--condition-expression", "attribute_not_exists(Artist)")
    with pytest.raises(Failed, match=r"\(ConditionalCheckFailedException\).*: The conditional request failed"):
        aws("dynamodb put-item --table-name Music --item", item, "--condition-expression", "attribute_not_exists(Artist)")
    for _ in range(2):
        got = aws("dynamodb get-item --table-name Music --return-consumed-capacity TOTAL --key", key)
        assert got == {"Item": item, "ConsumedCapacity": {"TableName": "Music", "CapacityUnits": 0.5}}
    assert aws("dynamodb get-item --table-name Music --key", {"Artist": S("Bo"), "Song": S("none")}) == {}
    got = aws("dynamodb update-item --table-name Music --return-values ALL_NEW --key", key, "--update-expression",
              "SET Trail = list_append(Trail, :l), Note.deep.yes = :f ADD Plays :one, Labels :c DELETE Absent :c REMOVE Cover",
              "--expression-attribute-values", {":l": {"L": [S("seen")]}, ":f": {"BOOL": False}, ":one": N(1),
                                                ":c": {"SS": ["c"]}})
    assert got["Attributes"]["Trail"]["L"] == [S("made"), S("seen")]
    assert got["Attributes"]["Plays"] == N(2) and "Cover" not in got["Attributes"]
    assert sorted(got["Attributes"]["Labels"]["SS"]) == ["a", "b", "c"]
    gone = aws("dynamodb delete-item --table-name Music --return-values ALL_OLD --key", key)
    assert gone == got
    with pytest.raises(Failed, match=r"\(ValidationException\).*The provided key element does not match the schema"):
        aws("dynamodb get-item --table-name Music --key", {"Artist": S("Bo")})


def test_queries_and_pages(aws, music):
    def songs(got):
        return [i["Song"]["S"] for i in got["Items"]]

    by_artist = ["--key-condition-expression", "Artist = :a AND begins_with(Song, :s)",
                 "--expression-attribute-values", {":a": S("Ana"), ":s": S("s1")}]
    assert songs(aws("dynamodb query --table-name Music --no-scan-index-forward", *by_artist)) == ["s%d" % i
                                                                                                   for i in range(19, 9, -1)]
    # The CLI pages by itself, with pages of any size; and hands out a token of its own.
    assert songs(aws("dynamodb query --table-name Music --page-size 3", *by_artist)) == ["s%d" % i for i in range(10, 20)]
    first = aws("dynamodb query --table-name Music --max-items 4", *by_artist)
    rest = aws("dynamodb query --table-name Music --starting-token", first["NextToken"], *by_artist)
    assert songs(first) + songs(rest) == ["s%d" % i for i in range(10, 20)]
    by_genre = aws("dynamodb query --table-name Music --index-name ByGenre --key-condition-expression",
                   "#g = :g AND #y BETWEEN :from AND :to", "--expression-attribute-names", {"#g": "Genre", "#y": "Year"},
                   "--expression-attribute-values", {":g": S("fado"), ":from": N(2003), ":to": N(2008)})
    assert [i["Plays"]["N"] for i in by_genre["Items"]] == ["3", "5", "7"]
    assert aws("dynamodb scan --table-name Music --index-name ByGenre --select COUNT")["Count"] == 10
    got = aws("dynamodb scan --table-name Music --page-size 6 --filter-expression", "Plays >= :n AND attribute_not_exists(Genre)",
              "--expression-attribute-values", {":n": N(10)})
    assert (got["Count"], got["ScannedCount"]) == (5, 20)
    got = aws("dynamodb batch-get-item --request-items", {"Music": {
        "Keys": [{"Artist": S("Ana"), "Song": S(s)} for s in ("s00", "s01", "none")], "ProjectionExpression": "Song"}})
    assert sorted(i["Song"]["S"] for i in got["Responses"]["Music"]) == ["s00", "s01"]


def test_transactions(aws, music):
    def put(song):
        return {"Put": {"TableName": "Music", "Item": {"Artist": S("Cy"), "Song": S(song)},
                        "ConditionExpression": "attribute_not_exists(Song)"}}

    aws("dynamodb transact-write-items --transact-items", [put("one"), put("two")])
    with pytest.raises(Failed, match=r"\(TransactionCanceledException\).*\[None, ConditionalCheckFailed\]"):
        aws("dynamodb transact-write-items --transact-items", [put("three"), put("one")])
    got = aws("dynamodb transact-get-items --transact-items",
              [{"Get": {"TableName": "Music", "Key": {"Artist": S("Cy"), "Song": S(s)}}} for s in ("one", "three")])
    assert got == {"Responses": [{"Item": {"Artist": S("Cy"), "Song": S("one")}}, {}]}


def test_an_index_more_and_the_table_dropped(aws, music):
    aws("dynamodb update-table --table-name Music --attribute-definitions AttributeName=Plays,AttributeType=N "
        "--global-secondary-index-updates", [{"Create": {"IndexName": "ByPlays", "Projection": {"ProjectionType": "KEYS_ONLY"},
                                                         "KeySchema": [{"AttributeName": "Plays", "KeyType": "HASH"}]}}])
    aws("dynamodb wait table-exists --table-name Music")
    for _ in range(200):
        indexes = aws("dynamodb describe-table --table-name Music")["Table"]["GlobalSecondaryIndexes"]
        if all(i["IndexStatus"] == "ACTIVE" for i in indexes):
            break
    got = aws("dynamodb query --table-name Music --index-name ByPlays --key-condition-expression", "Plays = :p",
              "--expression-attribute-values", {":p": N(7)})
    assert got["Items"] == [{"Artist": S("Ana"), "Song": S("s07"), "Plays": N(7)}]
    assert aws("dynamodb delete-table --table-name Music")["TableDescription"]["TableStatus"] == "DELETING"
    aws("dynamodb wait table-not-exists --table-name Music")


def test_auto_scaling(aws):
    """The developer guide's tutorial, "Using the AWS CLI to manage DynamoDB auto scaling", but for its traffic."""
    aws("dynamodb create-table --table-name TestTable --attribute-definitions AttributeName=pk,AttributeType=N "
        "AttributeName=sk,AttributeType=N --key-schema AttributeName=pk,KeyType=HASH AttributeName=sk,KeyType=RANGE "
        "--provisioned-throughput ReadCapacityUnits=5,WriteCapacityUnits=5")
    target = ("--service-namespace dynamodb --resource-id table/TestTable "
              "--scalable-dimension dynamodb:table:WriteCapacityUnits")
    aws(f"application-autoscaling register-scalable-target {target} --min-capacity 5 --max-capacity 10")
    aws(f"application-autoscaling put-scaling-policy {target} --policy-name MyScalingPolicy --policy-type TargetTrackingScaling "
        "--target-tracking-scaling-policy-configuration",
        {"PredefinedMetricSpecification": {"PredefinedMetricType": "DynamoDBWriteCapacityUtilization"}, "ScaleOutCooldown": 60,
         "ScaleInCooldown": 60, "TargetValue": 50.0})
    shown = aws("application-autoscaling describe-scaling-policies --service-namespace dynamodb --resource-id table/TestTable "
                "--policy-names MyScalingPolicy")
    assert shown["ScalingPolicies"][0]["TargetTrackingScalingPolicyConfiguration"]["TargetValue"] == 50.0
