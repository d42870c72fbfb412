-- A line is a sequence of messages that are consecutive by number and by parent. `line` is the number of its first message.
-- A branch is then a few ranges of numbers, and a page of it is found without walking the parents. Null, as written by code
-- that does not know lines, is a line of one message.
alter table intertie.conversation_message add column line bigint;
update intertie.conversation_message m set line = found.line from (
  select thread_id, id, max(first) over (partition by thread_id order by seq) as line from (
    select thread_id, id, seq,
      case when parent_id = lag(id) over thread and seq - 1 = lag(seq) over thread then null else seq end as first
    from intertie.conversation_message window thread as (partition by thread_id order by seq)) firsts) found
where m.thread_id = found.thread_id and m.id = found.id;
