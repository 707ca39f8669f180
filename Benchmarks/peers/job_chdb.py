"""One job on chDB (ClickHouse in process): job_chdb.py JOB INPUT-FOLDER OUTPUT [level=N] [lines]. Given structure.

Without a level gzip's is chDB's own default. With `lines` the dedupe job takes whole lines and looks for two members in them, which checks
nothing else and moves each record as it is.
"""

import sys
import time

import chdb

from contacts import COLUMNS

start = time.perf_counter()
job, source, target = sys.argv[1:4]
takes_lines = "lines" in sys.argv[4:]
level = "".join(f" LEVEL {a[6:]}" for a in sys.argv[4:] if a.startswith("level="))
TYPES = {"id": "Int64", "tags": "Array(String)", "verified": "Nullable(Bool)"}


def ndjson(columns=COLUMNS):
    structure = ", ".join(f"{c} {TYPES.get(c, 'Nullable(String)')}" for c in columns)
    return f"file('{source}/*.ndjson.gz', JSONEachRow, '{structure}')"


def csv():
    structure = ", ".join(f"{c} Nullable(String)" for c in COLUMNS)
    return f"file('{source}/*.csv.gz', CSVWithNames, '{structure}')"


KEY = "if(empty(trim(coalesce(email, ''))), toString(id), lower(trim(email)))"
flat = ", ".join("arrayStringConcat(tags, ';') AS tags" if c == "tags" else c for c in COLUMNS)
query, form = {
    "dedupe": (f"SELECT * FROM {ndjson()} LIMIT 1 BY {KEY}", "JSONEachRow"),
    "names": (
        f"""SELECT concat(first, ' ', last) AS full_name, image FROM {ndjson(['first', 'last', 'image'])}
            WHERE first <> '' AND last <> '' AND image <> '' ORDER BY last, first""",
        "JSONEachRow",
    ),
    "to-csv": (f"SELECT {flat} FROM {ndjson()}", "CSVWithNames"),
    "to-ndjson": (f"SELECT * FROM {csv()}", "JSONEachRow"),
    "dedupe-sort": (
        f"""SELECT * FROM (SELECT * FROM {csv()} LIMIT 1 BY {KEY})
            ORDER BY nullIf(last, '') NULLS LAST, nullIf(first, '') NULLS LAST""",
        "CSVWithNames",
    ),
}[job]
if takes_lines:
    query = f"""WITH JSONExtractString(line, 'email') AS email
        SELECT line FROM file('{source}/*.ndjson.gz', LineAsString)
        LIMIT 1 BY if(empty(trim(email)), JSONExtractRaw(line, 'id'), lower(trim(email)))"""
    form = "LineAsString"
settings = "max_threads = 2, input_format_csv_trim_whitespaces = 0, output_format_json_escape_forward_slashes = 0"
chdb.query(f"{query} SETTINGS {settings} INTO OUTFILE '{target}' COMPRESSION 'gzip'{level} FORMAT {form}")
print("work", time.perf_counter() - start, file=sys.stderr)
