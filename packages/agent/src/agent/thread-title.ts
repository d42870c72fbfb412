import type { CanonicalMessage, JsonObject, Store } from '@intertie/core';
import type { AgentDefinition, TitleRequest } from '../execution/agent-definition.ts';

const maxLength = 60;

/** Returns the beginning of the message, cut at a space. */
export function getDefaultTitle({ message }: TitleRequest): string | undefined {
  // Stores reject NUL and lone surrogates.
  const text = getText(message)
    .replaceAll(/[\s\p{Cc}\p{Cs}]+/gu, ' ')
    .trim();
  if (text === '') return undefined;
  if (text.length <= maxLength) return text;
  const cut = text.slice(0, maxLength);
  const space = cut.lastIndexOf(' ');
  return `${(space > maxLength / 2 ? cut.slice(0, space) : cut).replace(/[\uD800-\uDBFF]$/, '')}…`;
}

/** Fields of a new thread, if the default title is used. A custom `title` may be slow, so `saveThreadFields` runs it later. */
export function getThreadFields(
  { name, title }: AgentDefinition,
  threadId: string,
  message: CanonicalMessage | undefined,
): { title?: string; metadata: JsonObject } | undefined {
  if (title !== getDefaultTitle) return undefined;
  const made = message && getDefaultTitle({ threadId, message });
  return { metadata: { agent: name }, ...(made !== undefined && { title: made }) };
}

/** Saves the agent's name and a title to a thread that has no agent yet. */
export async function saveThreadFields(
  store: Store,
  { name, title }: AgentDefinition,
  threadId: string,
  message: CanonicalMessage | undefined,
): Promise<void> {
  const before = await store.getThreadById({ threadId });
  if (!before || before.metadata?.agent !== undefined) return;
  const titling = before.title === undefined && message ? title({ threadId, message }) : undefined;
  const made = await titling;
  // The thread may have been deleted while the title was generated. Saving would create it again.
  const thread = typeof titling === 'object' ? await store.getThreadById({ threadId }) : before;
  if (!thread) return;
  const named = thread.title === undefined && made !== undefined ? { title: made } : {};
  await store.saveThread({ thread: { id: threadId, metadata: { ...thread.metadata, agent: name }, ...named } });
}

function getText({ content }: CanonicalMessage): string {
  return content.parts.map((part) => (part.type === 'text' ? part.text : '')).join(' ');
}
