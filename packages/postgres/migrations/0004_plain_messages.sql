-- A message of two to four kilobytes, a usual answer, is kept as it is: of text the server's compression saves a quarter of that,
-- and takes as long as everything else that a save does. Longer ones, of which it saves more, are compressed. Two fit in a page.
alter table intertie.conversation_message set (toast_tuple_target = 4080);
