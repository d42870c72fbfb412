-- Finds messages by words:
--
--   select id from intertie.conversation_message
--   where intertie.message_words(content) @@ websearch_to_tsquery('simple', 'train to berlin') and deleted_at is null;
--
-- 'simple' is language-independent. Replace it in both places by the name of a language for stemming. The index about doubles
-- the cost of a save.
--
-- JSON text may contain escapes that a Postgres text cannot hold (NUL, lone surrogates). They become spaces, so that the index
-- rejects no message. Only the beginning of a very long text is indexed.
create function intertie.message_words(content json) returns tsvector language sql immutable parallel safe as $$
  select to_tsvector('simple', left(coalesce(string_agg(part ->> 'text', ' '), ''), 100000))
  from json_array_elements(
    regexp_replace(content::text, '(?<!\\)((?:\\\\)*)\\u[0-9a-fA-F]{4}', '\1 ', 'g')::json -> 'parts') part
  where part ->> 'type' = 'text'
$$;
create index conversation_message_words on intertie.conversation_message using gin (intertie.message_words(content))
  where deleted_at is null;
