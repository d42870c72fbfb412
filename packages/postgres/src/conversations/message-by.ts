/**
 * One message `m` by its key, for statements whose plan is kept: `select … from ${messageBy('id', 'thread.id', '$1')}`. All
 * indexes of messages begin with the thread, and while there are few messages each looks as good as the right one: a plan with
 * another one, kept, reads the whole thread when it has grown. A range in order is what only the index of the column can give.
 */
export function messageBy(column: 'id' | 'seq', thread: string, value: string, condition = 'true'): string {
  return `intertie.conversation_message m
    where m.thread_id = ${thread} and m.${column} between ${value} and ${value} and ${condition}
    order by m.${column} limit 1`;
}
