"""One job on Polars' streaming engine: job_polars.py JOB INPUT-FOLDER OUTPUT [level=N]. Given schema, order kept only by sorts.

Without a level gzip's is Polars' own default.
"""

import os
import sys
import time

os.environ["POLARS_MAX_THREADS"] = "2"
import polars as pl

from contacts import COLUMNS

start = time.perf_counter()
job, source, target = sys.argv[1:4]
schema = {c: pl.String for c in COLUMNS} | {"id": pl.Int64, "tags": pl.List(pl.String), "verified": pl.Boolean}


def ndjson(columns=COLUMNS):
    return pl.scan_ndjson(f"{source}/*.ndjson.gz", schema={c: schema[c] for c in columns})


def csv():
    return pl.scan_csv(f"{source}/*.csv.gz", schema={c: pl.String for c in COLUMNS})


def deduped(frame):
    key = pl.col("email").str.strip_chars().str.to_lowercase()
    key = pl.when((key == "") | key.is_null()).then(pl.col("id").cast(pl.String)).otherwise(key)
    return frame.with_columns(key=key).unique("key", keep="any").drop("key")


def blank_as_null(name):
    return pl.when(pl.col(name) != "").then(pl.col(name))


options = {"compression": "gzip", "engine": "streaming"}
options |= {"compression_level": int(a[6:]) for a in sys.argv[4:] if a.startswith("level=")}
if job == "dedupe":
    deduped(ndjson()).sink_ndjson(target, maintain_order=False, **options)
elif job == "names":
    frame = ndjson(["first", "last", "image"]).filter(pl.col("first") != "", pl.col("last") != "", pl.col("image") != "")
    frame = frame.sort("last", "first").select(full_name=pl.col("first") + " " + pl.col("last"), image="image")
    frame.sink_ndjson(target, **options)
elif job == "to-csv":
    ndjson().with_columns(pl.col("tags").list.join(";")).sink_csv(target, maintain_order=False, **options)
elif job == "to-ndjson":
    csv().sink_ndjson(target, maintain_order=False, **options)
elif job == "dedupe-sort":
    deduped(csv()).sort(blank_as_null("last"), blank_as_null("first"), nulls_last=True).sink_csv(target, **options)
print("work", time.perf_counter() - start, file=sys.stderr)
