import type { JsonObject } from '@intertie/core';

/** How something ended, for the client. What is beside an error's message may be a provider's response: that is for the server's log. */
export function withoutData(ended: object): JsonObject {
  const { error, ...rest } = ended as { error?: JsonObject };
  if (error === undefined) return rest;
  const { data: _, ...fault } = error;
  return { ...rest, error: fault };
}
