"""rules - DynamoDB's sizes and units once more, in Python, written from the developer guide and not from the daemon.

Sources: "DynamoDB item sizes and formats", "DynamoDB read and write operations", "Using Global Secondary Indexes" (write
capacity), "DynamoDB burst and adaptive capacity". Items are DynamoDB's JSON."""

import base64
import decimal


def number_size(text):
    """A byte, and one for each pair of digits, which end at the units; zeros at the ends are free."""
    sign, digits, exponent = decimal.Decimal(text).normalize().as_tuple()
    assert not sign, "nobody has asked for negative numbers"
    if not any(digits):
        return 1
    first, last = len(digits) + exponent, exponent          # positions of the digits: units are 0 .. 1
    return 1 + -(-first // 2) - last // 2


def value_size(v):
    (kind, x), = v.items()
    if kind == "S":
        return len(x.encode())
    if kind == "B":
        return len(base64.b64decode(x))
    if kind == "N":
        return number_size(x)
    if kind in ("SS", "NS", "BS"):
        return sum(value_size({kind[0]: one}) for one in x)
    if kind == "L":
        return 3 + len(x) + sum(map(value_size, x))
    if kind == "M":
        return 3 + len(x) + item_size(x)
    return 1                                                # NULL, BOOL


def item_size(item):
    """0 for none."""
    return sum(len(name.encode()) + value_size(v) for name, v in (item or {}).items())


def write_units(size, transactional=False):
    return max(1, -(-size // 1024)) * (2 if transactional else 1)


def read_units(size, consistency):
    """consistency: "eventual", "strong" or "transaction"."""
    return max(1, -(-size // 4096)) * {"eventual": 0.5, "strong": 1, "transaction": 2}[consistency]


class Index:
    """key: its own names, e.g. ("g", "n"); table: the table's. include: None for ALL, or the names beside the keys."""

    def __init__(self, name, key, table=("pk", "sk"), include=None):
        self.name, self.key, self.table, self.include = name, key, table, include

    def entry(self, item):
        """What stands in the index for the item; None if nothing."""
        if item is None or any(k not in item for k in self.key):
            return None
        if self.include is None:
            return item
        return {k: v for k, v in item.items() if k in self.key or k in self.table or k in self.include}

    def cost(self, old, new, transactional=False):
        """Units of the change of an item: an entry that moves is a deletion and an insertion."""
        before, after = self.entry(old), self.entry(new)
        if before == after:
            return 0
        if before and after and all(before[k] == after[k] for k in self.key):
            return write_units(max(item_size(before), item_size(after)), transactional)
        return sum(write_units(item_size(e), transactional) for e in (before, after) if e)


class Bucket:
    """Throughput of `rate` units a second, of which five minutes' worth are kept."""

    def __init__(self, rate):
        self.rate, self.level = rate, 300 * rate

    def pass_time(self, seconds):
        self.level = min(self.level + seconds * self.rate, 300 * self.rate)

    def full(self):
        return self.level == 300 * self.rate

    def take(self, units):
        self.level -= units
