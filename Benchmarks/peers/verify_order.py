"""Checks that an NDJSON output holds all generated contacts, sorted by last, first in CLDR root order, ties in input order.

verify_order.py ROWS FILE; one pass, memory for distinct names only.
"""

import gzip
import subprocess
import sys

import icu
import orjson

collator = icu.Collator.createInstance(icu.Locale.getRoot())
cache = {"": (1, b"")}


def order(name):
    found = cache.get(name)
    if found is None:
        found = cache[name] = (0, collator.getSortKey(name))
    return found


def main():
    rows, path = int(sys.argv[1]), sys.argv[2]
    seen, total = 0, 0
    last = ((0, b""), (0, b""), 0)
    # igzip reads several times faster than Python's gzip, and checks the same.
    source = subprocess.Popen(["igzip", "-dc", path], stdout=subprocess.PIPE) if path.endswith(".gz") else None
    for line in source.stdout if source else open(path, "rb"):
        record = orjson.loads(line)
        current = (order(record.get("last") or ""), order(record.get("first") or ""), record["id"])
        if current <= last:
            sys.exit(f"line {seen + 1} is out of order")
        last = current
        seen += 1
        # Ids are 1 to rows: their number and the sum of their squares tell a lost or doubled record.
        total += record["id"] ** 2
    if source and source.wait() != 0:
        sys.exit("igzip cannot read the output")
    if seen != rows or total != rows * (rows + 1) * (2 * rows + 1) // 6:
        sys.exit(f"{seen} records of {rows}, or not each once")


main()
