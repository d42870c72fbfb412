import type { CanonicalMessage, JsonObject, Store } from '@intertie/core';
import type { AgentDefinition, TitleRequest } from '../execution/agent-definition.ts';

const maxLength = 60;

/** The first words of the message, cut at a word. */
export function firstWords({ message }: TitleRequest): string | undefined {
  // Half of a surrogate pair, or a NUL, is no text, and no store keeps it in a title.
  const text = textOf(message)
    .replaceAll(/[\s\p{Cc}\p{Cs}]+/gu, ' ')
    .trim();
  if (text === '') return undefined;
  if (text.length <= maxLength) return text;
  const cut = text.slice(0, maxLength);
  const space = cut.lastIndexOf(' ');
  return `${(space > maxLength / 2 ? cut.slice(0, space) : cut).replace(/[\uD800-\uDBFF]$/, '')}…`;
}

/** What a new thread is given at once. A title that somebody else makes may take its time: then it is given later. */
export function introductionOf(
  { name, title }: AgentDefinition,
  threadId: string,
  message: CanonicalMessage | undefined,
): { title?: string; metadata: JsonObject } | undefined {
  if (title !== firstWords) return undefined;
  const made = message && firstWords({ threadId, message });
  return { metadata: { agent: name }, ...(made !== undefined && { title: made }) };
}

/** A new thread is named after its first message, and says which agent it is with. */
export async function introduceThread(
  store: Store,
  { name, title }: AgentDefinition,
  threadId: string,
  message: CanonicalMessage | undefined,
): Promise<void> {
  const before = await store.getThreadById({ threadId });
  if (!before || before.metadata?.agent !== undefined) return;
  const making = before.title === undefined && message ? title({ threadId, message }) : undefined;
  const made = await making;
  // A title may have taken its time, and the thread may be gone: naming it would bring it back.
  const thread = typeof making === 'object' ? await store.getThreadById({ threadId }) : before;
  if (!thread) return;
  const named = thread.title === undefined && made !== undefined ? { title: made } : {};
  await store.saveThread({ thread: { id: threadId, metadata: { ...thread.metadata, agent: name }, ...named } });
}

function textOf({ content }: CanonicalMessage): string {
  return content.parts.map((part) => (part.type === 'text' ? part.text : '')).join(' ');
}
