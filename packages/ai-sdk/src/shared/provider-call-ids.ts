import type { CanonicalMessage } from '@intertie/core';
import { getRecordedProvider } from './call-providers.ts';

/** What Anthropic and OpenAI take for the id of a tool call. Ids of ours and of other runtimes may be anything. */
export const providerCallId: RegExp = /^[\w-]{1,64}$/;

/** Mistral refuses every other id. */
const mistralCallId = /^[a-zA-Z0-9]{9}$/;

/** Our ids of calls as providers take them. Most are the same; two never become one. */
export type ProviderCallIds = ReadonlyMap<string, string>;

/** `provider` is the one that is asked next, as its model names it. */
export function toProviderCallIds(messages: readonly CanonicalMessage[], provider?: string): ProviderCallIds {
  const isMistral = provider?.split('.')[0] === 'mistral';
  const accepted = isMistral ? mistralCallId : providerCallId;
  const ids: string[] = [];
  const taken = new Set<string>();
  for (const { content } of messages) {
    for (const part of content.parts) {
      if (part.type !== 'tool-invocation') continue;
      const { toolCallId, stepId } = part;
      ids.push(toolCallId);
      // A provider takes its own ids, whatever it asks of others.
      const isOwn = isMistral && getRecordedProvider(stepId, content) === provider;
      if (accepted.test(toolCallId) || isOwn) taken.add(toolCallId);
    }
  }
  const kept = new Set(taken);
  const renamed = new Map<string, string>();
  for (const id of ids) {
    if (kept.has(id) || renamed.has(id)) continue;
    const plain = id.replaceAll(/[^\w-]/g, '_').slice(0, 48) || 'call';
    const candidate = (n: number): string => {
      if (isMistral) return toShortId(n === 0 ? id : `${id}_${n}`);
      return n === 0 ? plain : `${plain}_${n}`;
    };
    let n = 0;
    while (taken.has(candidate(n))) n += 1;
    taken.add(candidate(n));
    renamed.set(id, candidate(n));
  }
  return renamed;
}

/** Nine letters and digits, always the same for an id: a prompt cache depends on it. FNV-1a with 64 bits. */
function toShortId(id: string): string {
  let hash = 0xcbf29ce484222325n;
  for (const byte of new TextEncoder().encode(id)) {
    hash = BigInt.asUintN(64, (hash ^ BigInt(byte)) * 0x100000001b3n);
  }
  return hash.toString(36).padStart(9, '0').slice(-9);
}
