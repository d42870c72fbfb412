import type { CanonicalMessage } from '@intertie/core';

/** What Anthropic and OpenAI take for the id of a tool call. Ids of ours and of other runtimes may be anything. */
export const providerCallId: RegExp = /^[\w-]{1,64}$/;

/** Our ids of calls as providers take them. Most are the same; two never become one. */
export type ProviderCallIds = ReadonlyMap<string, string>;

export function toProviderCallIds(messages: readonly CanonicalMessage[]): ProviderCallIds {
  const ids: string[] = [];
  for (const { content } of messages) {
    for (const part of content.parts) if (part.type === 'tool-invocation') ids.push(part.toolCallId);
  }
  const taken = new Set(ids.filter((id) => providerCallId.test(id)));
  const renamed = new Map<string, string>();
  for (const id of ids) {
    if (providerCallId.test(id) || renamed.has(id)) continue;
    const plain = id.replaceAll(/[^\w-]/g, '_').slice(0, 48) || 'call';
    let safe = plain;
    for (let n = 1; taken.has(safe); n++) safe = `${plain}_${n}`;
    taken.add(safe);
    renamed.set(id, safe);
  }
  return renamed;
}
