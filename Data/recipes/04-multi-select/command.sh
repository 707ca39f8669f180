# A selection is a list of ids: everybody but one, saved, and applied to the contacts again.
ohana run contacts.ndjson --quiet -o chosen.csv --overwrite then filter "id <> '3'" then keep id
ohana run contacts.ndjson --quiet then select --ids chosen.csv then keep id,full_name
