/** Whether a message is the first of its line, in the words of the index that finds these by their parent. */
export function beginsLine(message: string): string {
  return `coalesce(${message}.line, ${message}.seq) = ${message}.seq`;
}

/**
 * The columns `m.…` of the messages that follow `parent` (`thread_id`, `id`, `seq`): the one that goes on with its line has
 * the next number, and all others begin a line.
 */
export function childrenOf(parent: string, columns: string): string {
  return `select ${columns} from intertie.conversation_message m
      where m.thread_id = ${parent}.thread_id and m.parent_id = ${parent}.id and ${beginsLine('m')}
    union all
    select ${columns} from intertie.conversation_message m
      where m.thread_id = ${parent}.thread_id and m.seq = ${parent}.seq + 1 and m.parent_id = ${parent}.id
        and m.line < m.seq`;
}
