"""Checks outputs of one job against its input: verify.py JOB INPUT-FOLDER [RULES:]OUTPUT…

Two records are the same when they are after null, missing, `\\N` and the empty string were made one, list cells were parsed and
date-times compared as instants. What is asked of an output:

  to-…      the same multiset of records as the input
  dedupe    the same set of keys as the input, each once; each record one of the input with that key; records without a key all there
  …-sort    in order of last, first, blank last, besides the above
  names     exactly the rows that the input gives, in order of last, first

RULES are letters in front of the name of an output: `o` the keeper is the first record of its key, and input order stays; for sorts, ties
in input order. `c` keys are in CLDR root order instead of byte order.

Prints a line per output, and exits 1 if one is wrong.
"""

import csv
import datetime
import glob
import gzip
import json
import re
import sys
from collections import Counter

import icu
import orjson

from contacts import COLUMNS, JOBS

csv.field_size_limit(1 << 26)
KNOWN = set(COLUMNS)
collator = icu.Collator.createInstance(icu.Locale.getRoot())


def tags(value):
    if isinstance(value, str):
        if value.startswith("["):
            inner = value[1:-1]
            value = json.loads(value) if '"' in value else [v.strip(" '") for v in re.split(",", inner)] if inner else []
        else:
            value = value.split(";")
    return tuple(str(v) for v in value) or None


def instant(value):
    try:
        moment = datetime.datetime.fromisoformat(value)
    except ValueError:
        return value
    return (moment if moment.tzinfo else moment.replace(tzinfo=datetime.timezone.utc)).timestamp()


def value(name, raw):
    if raw is None or raw == "" or raw == "\\N":
        return None
    if name == "tags":
        return tags(raw)
    if name == "updated_at":
        return instant(raw)
    if raw is True or raw is False:
        return "true" if raw else "false"
    return raw if isinstance(raw, str) else str(raw)


def same(record):
    """The record in the form in which it is compared."""
    unknown = record.keys() - KNOWN
    if unknown:
        raise ValueError(f"unknown fields {sorted(unknown)}")
    return hash(tuple(value(c, record.get(c)) for c in COLUMNS))


def key(record):
    return (record.get("email") or "").replace("\\N", "").strip(" ").lower()


def text(record, name):
    raw = record.get(name)
    return "" if raw is None or raw == "\\N" else raw


def read(path, form):
    with gzip.open(path, "rb") as file:
        if form == "ndjson":
            for line in file:
                yield orjson.loads(line)
        else:
            lines = (line.decode() for line in file)
            yield from csv.DictReader(lines, strict=True)


def chunks(folder, form):
    for path in sorted(glob.glob(f"{folder}/*.{form}.gz")):
        yield from read(path, form)


class Order:
    """Maps a name to what stands for it in order; blank comes last."""

    def __init__(self, is_collated):
        self.of = (lambda t: collator.getSortKey(t)) if is_collated else (lambda t: t.encode())
        self.cache = {"": (1, b"")}

    def __call__(self, name):
        found = self.cache.get(name)
        if found is None:
            found = self.cache[name] = (0, self.of(name))
        return found


def check_sorted(records, order):
    last = None
    for row, record in enumerate(records):
        current = order(text(record, "last")), order(text(record, "first"))
        if last is not None and current < last:
            return f"row {row} is out of order"
        last = current
    return None


class Input:
    def __init__(self, job, folder):
        self.job = job
        form = JOBS[job][1]
        self.names, self.records, self.by_key, self.first, self.unkeyed = [], Counter(), {}, [], Counter()
        self.count = 0
        for record in chunks(folder, form):
            self.count += 1
            if job == "names":
                first, last, image = (text(record, c) for c in ("first", "last", "image"))
                if first and last and image:
                    self.names.append((last, first, image))
                continue
            digest = same(record)
            if job.startswith("to-"):
                self.records[digest] += 1
                self.first.append(digest)
                continue
            k = key(record)
            if k:
                group = self.by_key.get(k)
                if group is None:
                    self.by_key[k] = {digest}
                    self.first.append(digest)
                else:
                    group.add(digest)
            else:
                self.unkeyed[digest] += 1
                self.first.append(digest)
            if job == "dedupe-sort":
                self.names.append((digest, text(record, "last"), text(record, "first")))

    def check(self, rules, path):
        form = JOBS[self.job][2]
        if self.job == "names":
            return self.check_names(rules, read(path, form))
        if self.job.startswith("to-"):
            return self.check_multiset(rules, read(path, form))
        return self.check_dedupe(rules, read(path, form))

    def check_multiset(self, rules, records):
        rest = Counter(self.records)
        for row, record in enumerate(records):
            digest = same(record)
            if "o" in rules and row < len(self.first) and digest != self.first[row]:
                return f"row {row} (id {record.get('id')}) is not the input's"
            if rest[digest] == 0:
                return f"row {row} (id {record.get('id')}) is not in the input"
            rest[digest] -= 1
        missing = sum(rest.values())
        return f"{missing} records are missing" if missing else None

    def check_names(self, rules, records):
        order = Order("c" in rules)
        expected = sorted(self.names, key=lambda n: (order(n[0]), order(n[1])))
        rows = [(r.get("full_name"), r.get("image")) for r in records]
        wanted = [(f"{first} {last}", image) for last, first, image in expected]
        if "o" in rules:
            return None if rows == wanted else "rows are not the expected ones in the expected order"
        if [r[0] for r in rows] != [w[0] for w in wanted]:
            return "names are not the expected ones in the expected order"
        return None if Counter(rows) == Counter(wanted) else "the image of a name is wrong"

    def check_dedupe(self, rules, records):
        seen, unkeyed, digests, names = set(), Counter(), [], []
        for row, record in enumerate(records):
            digest, k = same(record), key(record)
            digests.append(digest)
            if self.job == "dedupe-sort":
                names.append({"last": record.get("last"), "first": record.get("first")})
            if not k:
                unkeyed[digest] += 1
            elif k in seen:
                return f"row {row}: its key came before"
            elif digest not in self.by_key.get(k, ()):
                return f"row {row} (id {record.get('id')}) is no record of the input with that key"
            seen.add(k)
        seen.discard("")
        if len(seen) != len(self.by_key):
            return f"{len(self.by_key) - len(seen)} keys are missing"
        if unkeyed != self.unkeyed:
            return "records without a key are not all there"
        if self.job == "dedupe":
            return "keepers are not the first, or not in input order" if "o" in rules and digests != self.first else None
        order = Order("c" in rules)
        fault = check_sorted(names, order)
        if fault is None and "o" in rules:
            kept = Counter(self.first)
            wanted = []
            for digest, last, first in self.names:
                if kept[digest] > 0:
                    kept[digest] -= 1
                    wanted.append((order(last), order(first), digest))
            wanted.sort(key=lambda w: w[:2])
            if [w[2] for w in wanted] != digests:
                fault = "ties are not in input order, or keepers are not the first"
        return fault


def main():
    job, folder, outputs = sys.argv[1], sys.argv[2], sys.argv[3:]
    given = Input(job, folder)
    if given.count == 0:
        sys.exit("no input records: nothing would be checked")
    failed = False
    for output in outputs:
        rules, path = output.split(":", 1) if ":" in output else ("", output)
        try:
            fault = given.check(rules, path)
        except Exception as error:  # an output that cannot be read is as wrong as a wrong one
            fault = f"{type(error).__name__}: {error}"
        print(f"{path}\t{fault or 'equal'}")
        failed |= fault is not None
    sys.exit(failed)


if __name__ == "__main__":
    main()
