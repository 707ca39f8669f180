# Who is 'ads'? The best match first, the letters that were hit in brackets.
ohana run contacts.ndjson --quiet then match ads --in full_name --score score --top 3 \
  then set "hit = regexp_replace(full_name, '(?i)^(.*)(a)(.*?)(d)(.*?)(s)', '\\1[\\2]\\3[\\4]\\5[\\6]')" then keep hit,score
