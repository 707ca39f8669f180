#!/bin/bash
# One job with Miller: job_miller.sh JOB INPUT-FOLDER OUTPUT. -S keeps values as spelled; pigz compresses.
#
# NDJSON comes in by a pipe: with --prepipe, Miller 6.6 loses the end of some files. CSV cannot, since each chunk has a header.
set -euo pipefail
columns=id,first,last,email,phone,company,street,city,region,postal,country,image,tags,verified,updated_at
# A JSON null counts as present and not empty, and as the text "null".
key='$key = is_present($email) && typeof($email) != "null" ? tolower(strip($email)) : ""; if ($key == "") { $key = NR }'
blank='$last_key = is_not_empty($last) ? $last : "\xf4\x8f\xbf\xbf"; $first_key = is_not_empty($first) ? $first : "\xf4\x8f\xbf\xbf"'
ndjson() { cat "$source"/*.ndjson.gz | igzip -dc | mlr --ijsonl -S "$@"; }
csv() { mlr --icsv -S --gzin "$@" "$source"/*.csv.gz; }
full='is_not_empty($first) && is_not_empty($last) && is_not_empty($image)
  && typeof($first) != "null" && typeof($last) != "null" && typeof($image) != "null"'
flat='if (is_array($tags)) { $tags = joinv($tags, ";") }'
for column in ${columns//,/ }; do flat+=" if (typeof(\$$column) == \"null\") { \$$column = \"\" }"; done
source=$2
case $1 in
dedupe) ndjson --ojsonl put "$key" then head -n 1 -g key then cut -x -f key ;;
names)
  ndjson --ojsonl filter "$full" then \
    cut -f first,last,image then sort -f last -f first then put '$full_name = $first . " " . $last' then cut -o -f full_name,image
  ;;
to-csv) ndjson --ocsv put "$flat" then template -f "$columns" ;;
to-ndjson) csv --ojsonl cat ;;
dedupe-sort)
  csv --ocsv put "$key" then head -n 1 -g key then put "$blank" then sort -f last_key -f first_key then cut -x -f key,last_key,first_key
  ;;
esac | pigz -1 -p 2 >"$3"
