# A row for each number. Sorted before the split, so that one person's numbers stay together and in their order.
ohana run contacts.ndjson --quiet then sort full_name then split --on phone \
  then set "label = fields[0].label" "phone = fields[0].value" then keep full_name,label,phone
