-- Index for `searchMessages`, which reads all messages of the scope without it. It makes a save slower; see the README.
create index conversation_message_words on intertie.conversation_message
  using gin (intertie.search_words(intertie.search_text(content))) where deleted_at is null;
