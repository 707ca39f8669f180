# No more than three may be chosen: more are refused as a whole, or trimmed.
ohana run contacts.ndjson --quiet then select --max 3 || echo "refused: $?"
ohana run contacts.ndjson --quiet then select --require-type url --max 3 then keep id
ohana run contacts.ndjson --quiet then select --max 3 --on-exceed trim then keep id
