import type { Scope } from '../scope.ts';
import { partition, type RequestRow, type Tables } from './tables.ts';

/** How long an idempotency key is remembered. */
const rememberedMs = 24 * 60 * 60 * 1000;

/** The earlier use of a key. Of a run or a save, what belonged to a deleted thread is forgotten with it. */
export function findRequest(tables: Tables, scope: Scope, key: string): RequestRow | undefined {
  const request = tables.requests.get(scope)?.get(key);
  if (!request || request.at <= tables.now() - rememberedMs) return undefined;
  return request.messages.some(({ thread }) => thread.deleted) ? undefined : request;
}

export function rememberRequest(tables: Tables, scope: Scope, key: string, request: Omit<RequestRow, 'at'>): void {
  const requests = partition(tables.requests, scope);
  const now = tables.now();
  // The oldest come first, so forgetting costs each of them once.
  for (const [known, { at }] of requests) {
    if (at > now - rememberedMs) break;
    requests.delete(known);
  }
  requests.delete(key);
  requests.set(key, { ...request, at: now });
}
