-- Text of a message that `searchMessages` searches: the beginning of its text parts. JSON text may contain escapes that a Postgres
-- text cannot hold (NUL, lone surrogates). They become spaces, so that no message fails.
create function intertie.search_text(content json) returns text language sql immutable parallel safe as $$
  select left(coalesce(string_agg(part ->> 'text', E'\n'), ''), 100000)
  from json_array_elements(case when strpos(content::text, '\u') = 0 then content
    else regexp_replace(content::text, '(?<!\\)((?:\\\\)*)\\u[0-9a-fA-F]{4}', '\1 ', 'g')::json end -> 'parts') part
  where part ->> 'type' = 'text'
$$;
-- The words of a text. Punctuation separates words, also within file names and addresses. 'simple' is language-independent.
create function intertie.search_words(body text) returns tsvector language sql immutable parallel safe as $$
  select to_tsvector('simple'::regconfig, translate(body,
    '!"#$%&''()*+,-./:;<=>?@[\]^_`{|}~', '                                '))
$$;
