-- Every row of a long save paid for what only an edit needs. The message after its parent is found by its number, so that only
-- the first of a line has to be found by its parent.
drop index intertie.conversation_message_children;
create index conversation_message_children on intertie.conversation_message (thread_id, parent_id, seq)
  where coalesce(line, seq) = seq;

-- Messages are written under the lock of their thread, and deleted under it: a foreign key would look for the same row again,
-- once a message. Code that leaves the deleting to the key has to know.
alter table intertie.conversation_message drop constraint conversation_message_thread;
update intertie.meta set value = '3' where key = 'min_code';
