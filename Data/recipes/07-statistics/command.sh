# How many fields, phones and e-mail addresses contacts have, and who has a mobile phone.
ohana run contacts.ndjson --quiet --to csv then count-fields \
  then keep id,stats.fields,stats.phones,stats.emails,stats.has_mobile
ohana run contacts.ndjson --quiet then count-fields then count-by stats.phones
