"""The columns of generated contacts; see Sources/OhanaRun/Generate."""

COLUMNS = [
    "id", "first", "last", "email", "phone", "company", "street", "city", "region", "postal", "country", "image", "tags", "verified",
    "updated_at",
]

JOBS = {
    "dedupe": ("dedupe by trimmed lower-case e-mail, NDJSON → NDJSON", "ndjson", "ndjson"),
    "names": ("require → sort → full_name, NDJSON → NDJSON", "ndjson", "ndjson"),
    "to-csv": ("convert NDJSON → CSV", "ndjson", "csv"),
    "to-ndjson": ("convert CSV → NDJSON", "csv", "ndjson"),
    "dedupe-sort": ("dedupe then sort, CSV → CSV", "csv", "csv"),
}
