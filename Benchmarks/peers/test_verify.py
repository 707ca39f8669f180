"""The checker must notice damage: test_verify.py, in the virtual environment. No engine is run."""

import gzip
import json
import tempfile
import unittest
from pathlib import Path

import verify

RECORDS = [
    {"id": 1, "first": "Ann", "last": "Lee", "email": "ann@example.com", "image": "a.jpg", "tags": ["x", "y"], "updated_at": "2024-01-02T03:04:05Z"},
    {"id": 2, "first": "Bob", "last": None, "email": None, "image": "b.jpg", "tags": []},
    {"id": 3, "first": "ann", "last": "Lee", "email": " ANN@example.com", "image": "c.jpg"},
    {"id": 4, "first": "Éva", "last": "Åk", "email": "eva@example.com", "image": "d.jpg"},
    {"id": 5, "first": "Zoe", "last": "Zy", "email": "", "image": ""},
    {"id": 6, "first": "Eve", "last": "Ak", "email": "eve@example.com", "image": "e.jpg"},
]


class VerifyTests(unittest.TestCase):
    def setUp(self):
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.write("in.ndjson.gz", RECORDS)
        (self.folder / "csv").mkdir()
        self.write_csv("csv/in.csv.gz", RECORDS)

    def write(self, name, records):
        path = self.folder / name
        path.write_bytes(gzip.compress("".join(json.dumps(r) + "\n" for r in records).encode()))
        return str(path)

    def write_csv(self, name, records):
        def cell(v):
            return "" if v is None else ";".join(v) if isinstance(v, list) else f'"{v}"'

        lines = [",".join(verify.COLUMNS)] + [",".join(cell(r.get(c)) for c in verify.COLUMNS) for r in records]
        path = self.folder / name
        path.write_bytes(gzip.compress("".join(line + "\n" for line in lines).encode()))
        return str(path)

    def check(self, job, records, rules=""):
        folder = self.folder / "csv" if verify.JOBS[job][1] == "csv" else self.folder
        write = self.write if verify.JOBS[job][2] == "ndjson" else self.write_csv
        return verify.Input(job, str(folder)).check(rules, write("out.gz", records))

    def test_convert(self):
        for job in ("to-csv", "to-ndjson"):
            self.assertIsNone(self.check(job, RECORDS, "o"))
            self.assertIsNone(self.check(job, RECORDS[::-1]))
            self.assertIsNotNone(self.check(job, RECORDS[::-1], "o"))
            self.assertIn("missing", self.check(job, RECORDS[1:]))
            self.assertIn("not in the input", self.check(job, RECORDS + RECORDS[:1]))
            self.assertIn("not in the input", self.check(job, [RECORDS[0] | {"phone": "1"}, *RECORDS[1:]]))

    def test_same_content(self):
        other = [dict(r) for r in RECORDS]
        other[0] |= {"updated_at": "2024-01-02 04:04:05+01:00", "tags": "['x','y']", "phone": None, "city": "\\N"}
        del other[1]["last"]
        self.assertIsNone(self.check("to-csv", other))
        other[0]["updated_at"] = "2024-01-02 04:04:05"
        self.assertIsNotNone(self.check("to-csv", other))

    def test_dedupe(self):
        kept = [RECORDS[i] for i in (0, 1, 3, 4, 5)]
        self.assertIsNone(self.check("dedupe", kept, "o"))
        self.assertIsNone(self.check("dedupe", [RECORDS[2], *kept[1:]]))
        self.assertIsNotNone(self.check("dedupe", [RECORDS[2], *kept[1:]], "o"))
        self.assertIsNotNone(self.check("dedupe", kept[::-1], "o"))
        self.assertIn("came before", self.check("dedupe", RECORDS))
        self.assertIn("keys are missing", self.check("dedupe", kept[:-1]))
        self.assertIn("without a key", self.check("dedupe", [r for r in kept if r["id"] != 5]))
        self.assertIn("no record of the input", self.check("dedupe", [RECORDS[0] | {"first": "Anna"}, *kept[1:]]))

    def test_dedupe_sort(self):
        binary = [RECORDS[i] for i in (5, 0, 4, 3, 1)]
        collated = [RECORDS[i] for i in (5, 3, 0, 4, 1)]
        self.assertIsNone(self.check("dedupe-sort", binary, "o"))
        self.assertIsNone(self.check("dedupe-sort", collated, "oc"))
        self.assertIn("out of order", self.check("dedupe-sort", collated, "o"))
        self.assertIn("out of order", self.check("dedupe-sort", binary, "oc"))
        self.assertIn("ties", self.check("dedupe-sort", [RECORDS[5], RECORDS[2], *binary[2:]], "o"))

    def test_names(self):
        rows = [{"full_name": f"{r['first']} {r['last']}", "image": r["image"]} for r in (RECORDS[i] for i in (5, 0, 2, 3))]
        self.assertIsNone(self.check("names", rows, "o"))
        self.assertIsNotNone(self.check("names", rows, "oc"))
        self.assertIn("image", self.check("names", [rows[0] | {"image": "x"}, *rows[1:]]))
        self.assertIn("names", self.check("names", rows[1:]))


if __name__ == "__main__":
    unittest.main()
