# A row for each way to reach someone: the union of two splits, then sorted.
ohana run contacts.ndjson --quiet then any { split --on phone } { split --on email } then sort full_name \
  then set "type = fields[0].type" "value = fields[0].value" then keep full_name,type,value
