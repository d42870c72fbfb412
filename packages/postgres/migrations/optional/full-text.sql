-- Finds messages by their words:
--
--   select id from intertie.conversation_message
--   where intertie.message_words(content) @@ websearch_to_tsquery('simple', 'train to berlin') and deleted_at is null;
--
-- 'simple' knows no language: put the name of yours in both places for one that knows its endings. Every save pays for the
-- index, about as much again as for the message.
--
-- Text may hold what no text of the database can, as an escape (NUL, half of a character). Such an escape becomes a space, so
-- that no message is refused for the sake of the index; and a very long text is found by its beginning.
create function intertie.message_words(content json) returns tsvector language sql immutable parallel safe as $$
  select to_tsvector('simple', left(coalesce(string_agg(part ->> 'text', ' '), ''), 100000))
  from json_array_elements(
    regexp_replace(content::text, '(?<!\\)((?:\\\\)*)\\u[0-9a-fA-F]{4}', '\1 ', 'g')::json -> 'parts') part
  where part ->> 'type' = 'text'
$$;
create index conversation_message_words on intertie.conversation_message using gin (intertie.message_words(content))
  where deleted_at is null;
