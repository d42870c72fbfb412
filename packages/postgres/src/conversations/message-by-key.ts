/**
 * `from` clause for one message `m` by its key: `select … from ${messageByKey('id', 'thread.id', '$1')}`. Uses `between` and
 * `order by`, which only the index on this column can serve: all message indexes start with the thread, and for a small table
 * the planner may choose any of them. A prepared statement would keep that plan and scan the whole thread once it has grown.
 */
export function messageByKey(column: 'id' | 'seq', thread: string, value: string, condition = 'true'): string {
  return `intertie.conversation_message m
    where m.thread_id = ${thread} and m.${column} between ${value} and ${value} and ${condition}
    order by m.${column} limit 1`;
}
