import type { Scope } from '../scope.ts';
import { partition, type RequestRow, type Tables } from './tables.ts';

/** Time after which an idempotency key is forgotten. */
const keyLifetimeMs = 24 * 60 * 60 * 1000;

/** Finds the earlier use of a key. A use in a deleted thread does not count. */
export function findRequest(tables: Tables, scope: Scope, key: string): RequestRow | undefined {
  const request = tables.requests.get(scope)?.get(key);
  if (!request || request.at <= tables.now() - keyLifetimeMs) return undefined;
  return request.messages.some(({ thread }) => thread.deleted) ? undefined : request;
}

export function storeRequest(tables: Tables, scope: Scope, key: string, request: Omit<RequestRow, 'at'>): void {
  const requests = partition(tables.requests, scope);
  const now = tables.now();
  // The oldest come first, so each expired key is visited once.
  for (const [known, { at }] of requests) {
    if (at > now - keyLifetimeMs) break;
    requests.delete(known);
  }
  requests.delete(key);
  requests.set(key, { ...request, at: now });
}
