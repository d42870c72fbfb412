-- Runs are also found by their message alone. The new index serves both kinds of queries, so it replaces the old one.
drop index intertie.runs_message;
create index runs_message on intertie.runs (message_id, thread_id);
