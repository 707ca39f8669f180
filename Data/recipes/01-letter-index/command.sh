# Contacts by name under their first letters, nameless ones under # at the end; then how many there are of each.
ohana run contacts.ndjson --quiet then sort full_name \
  then set "initial = CASE WHEN coalesce(full_name, '') = '' THEN '#' ELSE upper(left(full_name, 1)) END" \
  then tee index.ndjson then count-by initial
cat index.ndjson
