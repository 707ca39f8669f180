#!/bin/bash
# One job with jq, mawk, GNU sort and pigz: job_jq.sh JOB INPUT-FOLDER OUTPUT. No reader of CSV among them: three jobs only.
set -euo pipefail
export LC_ALL=C
tab=$'\t'
columns=id,first,last,email,phone,company,street,city,region,postal,country,image,tags,verified,updated_at
case $1 in
dedupe)
  pigz -dc "$2"/*.ndjson.gz |
    jq -rc '[.email // "", tojson] | join("\t")' |
    awk -F"$tab" '{ k = tolower($1); gsub(/^ +| +$/, "", k) } k == "" || !seen[k]++ { print substr($0, length($1) + 2) }' |
    pigz -1 -p 2 >"$3"
  ;;
names)
  pigz -dc "$2"/*.ndjson.gz |
    jq -rc 'select((.first // "") != "" and (.last // "") != "" and (.image // "") != "")
      | [.last, .first, ({full_name: (.first + " " + .last), image} | tojson)] | join("\t")' |
    sort -s -t "$tab" -k1,1 -k2,2 --parallel=2 -S 256M | cut -f3- | pigz -1 -p 2 >"$3"
  ;;
to-csv)
  pigz -dc "$2"/*.ndjson.gz |
    (echo "$columns" && jq -rc "[.${columns//,/,.}] | .[12] |= (. // [] | join(\";\")) | @csv") | pigz -1 -p 2 >"$3"
  ;;
esac
