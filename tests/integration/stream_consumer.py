"""stream_consumer - follows a stream as the Kinesis Client Library does: a lease for each shard, children after their parents.

A lease has a checkpoint, the sequence number of the last record that was handed on; another consumer goes on from the leases of
one that has gone. Iterators are kept in memory only: when one has expired, the checkpoint makes a new one."""

END = "SHARD_END"


class Lease:
    def __init__(self, shard):
        self.shard_id = shard["ShardId"]
        self.parent = shard.get("ParentShardId")
        self.checkpoint = None                  # None: the trim horizon; END: finished


class Consumer:
    def __init__(self, streams, arn, leases=None):
        self.streams = streams
        self.arn = arn
        self.leases = leases if leases is not None else {}      # shard id -> Lease
        self.iterators = {}                     # shard id -> iterator
        self.expired = 0

    def describe(self, limit=100):
        """The stream's shards, page by page."""
        start = {}
        while True:
            page = self.streams.describe_stream(StreamArn=self.arn, Limit=limit, **start)["StreamDescription"]
            yield from page["Shards"]
            if "LastEvaluatedShardId" not in page:
                return
            start = {"ExclusiveStartShardId": page["LastEvaluatedShardId"]}

    def discover(self, limit=100):
        for shard in self.describe(limit):
            self.leases.setdefault(shard["ShardId"], Lease(shard))

    def iterator(self, lease):
        if lease.shard_id not in self.iterators:
            where = {"ShardIteratorType": "TRIM_HORIZON"} if lease.checkpoint is None else \
                {"ShardIteratorType": "AFTER_SEQUENCE_NUMBER", "SequenceNumber": lease.checkpoint}
            self.iterators[lease.shard_id] = self.streams.get_shard_iterator(
                StreamArn=self.arn, ShardId=lease.shard_id, **where)["ShardIterator"]
        return self.iterators[lease.shard_id]

    def page(self, lease, limit):
        try:
            return self.streams.get_records(ShardIterator=self.iterator(lease), Limit=limit)
        except self.streams.exceptions.ExpiredIteratorException:
            self.expired += 1
            del self.iterators[lease.shard_id]
            return self.streams.get_records(ShardIterator=self.iterator(lease), Limit=limit)

    def consume(self, lease, limit):
        """One page of a shard."""
        page = self.page(lease, limit)
        if page["Records"]:
            lease.checkpoint = page["Records"][-1]["dynamodb"]["SequenceNumber"]
        if "NextShardIterator" in page:
            self.iterators[lease.shard_id] = page["NextShardIterator"]
        else:
            del self.iterators[lease.shard_id]
            lease.checkpoint = END
        return page["Records"]

    def ready(self, lease):
        """Parents first; one that is not there any more holds up nobody."""
        parent = self.leases.get(lease.parent)
        return lease.checkpoint != END and (parent is None or parent.checkpoint == END)

    def step(self, limit=1000):
        """A page of every shard that may be read."""
        self.discover()
        records = []
        for lease in list(self.leases.values()):
            if self.ready(lease):
                records += self.consume(lease, limit)
        return records

    def drain(self):
        """All that there is now. Shards that end make their children readable, so an empty round must have ended none."""
        records, ended = [], -1
        while True:
            more = self.step()
            records += more
            now = sum(lease.checkpoint == END for lease in self.leases.values())
            if not more and now == ended:
                return records
            ended = now
