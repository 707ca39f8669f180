"""One job on DuckDB: job_duckdb.py JOB INPUT-FOLDER OUTPUT. The time without interpreter and imports goes to standard error.

Columns are typed, so that nothing is spent on sniffing; insertion order is given up where the job allows it. DuckDB has no setting for
the level of its gzip; with /dev/stdout as OUTPUT it writes plain text for another compressor.
"""

import sys
import time

import duckdb

from contacts import COLUMNS

start = time.perf_counter()
job, source, target = sys.argv[1:4]
TYPES = {"id": "BIGINT", "tags": "VARCHAR[]", "verified": "BOOLEAN"}


def ndjson(columns=COLUMNS):
    types = ", ".join(f"{c}: '{TYPES.get(c, 'VARCHAR')}'" for c in columns)
    return f"read_ndjson('{source}/*.ndjson.gz', columns={{{types}}}, compression='gzip')"


def csv():
    types = ", ".join(f"'{c}': 'VARCHAR'" for c in COLUMNS)
    return (
        f"read_csv('{source}/*.csv.gz', columns={{{types}}}, header=true, delim=',', quote='\"', escape='\"', auto_detect=false,"
        " compression='gzip')"
    )


KEY = "CASE WHEN trim(coalesce(email, '')) = '' THEN id::VARCHAR ELSE lower(trim(email)) END"
compression = "none" if target == "/dev/stdout" else "gzip"
JSON = f"(FORMAT json, COMPRESSION {compression})"
CSV = f"(FORMAT csv, HEADER, COMPRESSION {compression})"
flat = ", ".join("array_to_string(tags, ';') AS tags" if c == "tags" else c for c in COLUMNS)
query = {
    "dedupe": f"COPY (SELECT DISTINCT ON ({KEY}) * FROM {ndjson()}) TO '{target}' {JSON}",
    "names": f"""COPY (SELECT first || ' ' || last AS full_name, image FROM {ndjson(['first', 'last', 'image'])}
        WHERE first <> '' AND last <> '' AND image <> '' ORDER BY last, first) TO '{target}' {JSON}""",
    "to-csv": f"COPY (SELECT {flat} FROM {ndjson()}) TO '{target}' {CSV}",
    "to-ndjson": f"COPY (SELECT * FROM {csv()}) TO '{target}' {JSON}",
    "dedupe-sort": f"""COPY (SELECT * FROM (SELECT DISTINCT ON ({KEY}) * FROM {csv()})
        ORDER BY nullif(last, '') NULLS LAST, nullif(first, '') NULLS LAST) TO '{target}' {CSV}""",
}[job]
database = duckdb.connect()
database.execute("SET threads = 2")
if job not in ("names", "dedupe-sort"):
    database.execute("SET preserve_insertion_order = false")
database.execute(query)
print("work", time.perf_counter() - start, file=sys.stderr)
