# Those who have a picture, by name.
ohana run contacts.ndjson --quiet then require image then sort full_name then keep id,full_name,image
