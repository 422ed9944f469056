"""twin - two daemons, one behind each door, that are told the same and must answer the same.

    http dynaxd    <-- HttpDoor    \\
                                     twin("Query", ...)  -->  one answer, or one error
    msgpack dynaxd <-- MsgpackDoor /

1. Answers and errors are equal through both doors: every member, the consumed capacity (asked for wherever an operation
   has it) and the source (hit or miss), but for times and what the service makes up (VOLATILE).
2. Reads are asked twice, and the second answer is the first one's equal, capacity included.
3. The second answer of a read that caches serve (CACHED) is a hit.

The client refuses some requests before they are sent, with the service's text and as a UsageError: the text must be equal."""

import contextlib
import json

from daemon import Daemon
from doors import Database, HttpDoor, MsgpackDoor, READS, Refused

CACHED = {"GetItem", "BatchGetItem", "Query", "Scan"}
METERED = READS | {"PutItem", "UpdateItem", "DeleteItem", "BatchWriteItem", "TransactWriteItems", "ExecuteStatement",
                   "BatchExecuteStatement", "ExecuteTransaction"}
VOLATILE = {"CreationDateTime", "CreationRequestDateTime", "TableId", "LatestStreamArn", "LatestStreamLabel", "StreamArn",
            "StreamLabel",
            "ShardId", "ShardIterator", "NextShardIterator", "StartingSequenceNumber", "EndingSequenceNumber", "SequenceNumber",
            "ApproximateCreationDateTime", "eventID", "LastUpdateToPayPerRequestDateTime", "LastIncreaseDateTime",
            "LastDecreaseDateTime", "NextToken", "EarliestRestorableDateTime", "LatestRestorableDateTime", "LastUpdateDateTime",
            "Address", "TableSizeBytes", "IndexSizeBytes", "CreationTime", "PolicyARN"}


def constant(answer):
    """The answer with the type in place of each value that differs between two servers."""
    if isinstance(answer, dict):
        return {k: type(v).__name__ if k in VOLATILE else constant(v) for k, v in answer.items()}
    if isinstance(answer, list):
        return [constant(v) for v in answer]
    return answer


class Side:
    """One daemon behind one door; a key, too, for what this daemon made up itself (a stream's ARN)."""

    def __init__(self, kind, daemon):
        self.daemon, self.door = daemon, kind(daemon)

    def ask(self, operation, body):
        text = json.dumps(body)
        try:
            return self.door.call(operation, text), None
        except Refused as refused:
            return None, refused


class Twin(Database):
    """Called with an operation and its members, gives the HTTP door's answer. A member's value may be a function of the
    side, for what the two servers name differently."""

    def __init__(self, stack):
        self.sides = [Side(kind, stack.enter_context(Daemon())) for kind in (HttpDoor, MsgpackDoor)]

    def both(self, operation, body):
        """The outcomes at both sides, (answer, error) each, found to be alike."""
        if operation in METERED:
            body = {"ReturnConsumedCapacity": "INDEXES", **body}
        got = [side.ask(operation, {k: v(side) if callable(v) else v for k, v in body.items()}) for side in self.sides]
        (here, wrong), (there, also_wrong) = got
        assert constant(here) == constant(there), f"{operation}: the doors differ"
        assert (wrong is None) == (also_wrong is None), f"{operation}: {wrong}, {also_wrong}"
        if wrong:
            assert also_wrong.text == wrong.text and also_wrong.kind in (wrong.kind, "UsageError"), (wrong, also_wrong)
            if also_wrong.kind == wrong.kind:
                assert also_wrong.body == wrong.body
        return got

    def sources(self):
        http, msgpack = (side.door.source for side in self.sides)
        assert http == msgpack
        return http

    def __call__(self, operation, **body):
        got = self.both(operation, body)
        answer, refused = got[0]
        if refused:
            raise refused
        self.answers = {side: one for side, (one, _) in zip(self.sides, got)}
        if operation in READS:
            self.first = self.sources()
            assert self.first in ("hit", "miss", "bypass")
            assert self.both(operation, body)[0][0] == answer, f"{operation}: the warm answer differs from the cold one"
            if operation in CACHED:
                assert self.sources() == "hit", f"{operation}: asked again, it is a {self.sources()}"
        return answer

    def refuse(self, kind, text, operation, **body):
        for _ in range(2):
            _, refused = self.both(operation, body)[0]
            assert refused, f"{operation} was answered"
            assert refused.kind == kind and text in refused.text, refused
        return refused


@contextlib.contextmanager
def twins():
    with contextlib.ExitStack() as stack:
        twin = Twin(stack)
        yield twin
        for side in twin.sides:
            side.door.close()
            assert side.daemon.stop() == 0, side.daemon.stderr()
