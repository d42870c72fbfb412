import { MessageList } from '@intertie/core';
import { toUIMessages } from '@intertie/ai-sdk';
import type { UIMessage } from 'ai';
import type { LogEntry } from '../inspect-types.ts';

/** The message that the first `count` events of a run make, as a chat shows it. Undefined: there is none yet. */
export function foldEntries(
  entries: readonly LogEntry[],
  { count = entries.length, includeInternal }: { count?: number; includeInternal: boolean },
): UIMessage | undefined {
  const list = new MessageList();
  for (let index = 0; index < Math.min(count, entries.length); index += 1) list.feed(entries[index]!.event);
  const { message } = list;
  return message && toUIMessages([message], { includeInternal })[0];
}
