-- Messages that follow each other both by number and by parent are a line, and `line` is the number of its first one. So a
-- branch is a few ranges of numbers, however long it is, and any page of it is found without walking there. Null, as written
-- by code that knows no lines, is a line of one.
alter table intertie.conversation_message add column line bigint;
update intertie.conversation_message m set line = found.line from (
  select thread_id, id, max(first) over (partition by thread_id order by seq) as line from (
    select thread_id, id, seq,
      case when parent_id = lag(id) over thread and seq - 1 = lag(seq) over thread then null else seq end as first
    from intertie.conversation_message window thread as (partition by thread_id order by seq)) firsts) found
where m.thread_id = found.thread_id and m.id = found.id;
