-- Makes long saves cheaper: the child on the same line is found by its number, so only the first message of a line needs an
-- entry in the index by parent.
drop index intertie.conversation_message_children;
create index conversation_message_children on intertie.conversation_message (thread_id, parent_id, seq)
  where coalesce(line, seq) = seq;

-- Messages are written and deleted under the lock of their thread, so the foreign key only repeated that lookup for every
-- message. Code that relies on the key to delete messages must not run any more.
alter table intertie.conversation_message drop constraint conversation_message_thread;
update intertie.meta set value = '3' where key = 'min_code';
