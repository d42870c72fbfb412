import type { CanonicalMessage } from '@intertie/core';
import { getRecordedProvider } from './call-providers.ts';

/** Tool call ids that Anthropic and OpenAI accept. Our ids and those of other runtimes can be any string. */
export const providerCallId: RegExp = /^[\w-]{1,64}$/;

/** The only tool call ids that Mistral accepts. */
const mistralCallId = /^[a-zA-Z0-9]{9}$/;

/** Replacements for our call ids that a provider does not accept. Unique; ids that are accepted have no entry. */
export type ProviderCallIds = ReadonlyMap<string, string>;

/** Maps the call ids of a history to ids that `provider` (as its model names it) accepts. Deterministic. */
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
      // Mistral accepts the ids that it issued itself in any form.
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

/** Hashes an id to nine letters and digits (64-bit FNV-1a). Deterministic, because prompt caches depend on it. */
function toShortId(id: string): string {
  let hash = 0xcbf29ce484222325n;
  for (const byte of new TextEncoder().encode(id)) {
    hash = BigInt.asUintN(64, (hash ^ BigInt(byte)) * 0x100000001b3n);
  }
  return hash.toString(36).padStart(9, '0').slice(-9);
}
