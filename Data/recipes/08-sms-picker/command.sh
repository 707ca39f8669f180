# Mobile numbers in one spelling, split before the sort, so that each stands by itself.
ohana run contacts.ndjson --quiet then split --on phone then filter "fields[0].label IN ('mobile', 'iPhone')" \
  then set "phone = fields[0].value" then phone --region US --formats e164 --replace then sort phone then keep full_name,phone
