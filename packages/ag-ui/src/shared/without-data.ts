import type { JsonObject } from '@intertie/core';

/** Removes `error.data` from an outcome: it may be a provider's response, which is for the server's log only. */
export function withoutData(ended: object): JsonObject {
  const { error, ...rest } = ended as { error?: JsonObject };
  if (error === undefined) return rest;
  const { data: _, ...fault } = error;
  return { ...rest, error: fault };
}
