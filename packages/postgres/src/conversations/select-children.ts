/** Condition: the message is the first of its line. Must match the predicate of the index `conversation_message_children`. */
export function startsLine(message: string): string {
  return `coalesce(${message}.line, ${message}.seq) = ${message}.seq`;
}

/**
 * Selects the children of `parent` (`thread_id`, `id`, `seq`) as `m`. The child on the same line has the next number; every
 * other child starts a line.
 */
export function selectChildren(parent: string, columns: string): string {
  return `select ${columns} from intertie.conversation_message m
      where m.thread_id = ${parent}.thread_id and m.parent_id = ${parent}.id and ${startsLine('m')}
    union all
    select ${columns} from intertie.conversation_message m
      where m.thread_id = ${parent}.thread_id and m.seq = ${parent}.seq + 1 and m.parent_id = ${parent}.id
        and m.line < m.seq`;
}
