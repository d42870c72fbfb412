-- Stores messages of up to four kilobytes, the length of a usual answer, uncompressed: compression would save a quarter and take
-- as long as the rest of the save. Longer messages, which compress better, are compressed. Two rows fit in a page.
alter table intertie.conversation_message set (toast_tuple_target = 4080);
