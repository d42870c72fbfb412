import { HTTP_EXTENSION_HEADER } from '@a2a-js/sdk';
import type { ServerCallContext } from '@a2a-js/sdk/server';
import type { DurableRequestHandler } from './durable-request-handler.ts';

/** One request: the parts that both bindings need. */
export type A2ACall = {
  request: Request;
  body: unknown;
  context: ServerCallContext;
  createHandler: (params: unknown) => DurableRequestHandler;
  keepAliveMs: number;
  /** Aborts the work of the request. */
  cancel: () => void;
};

/** Names the extensions that the request has activated. They are known after its handler has begun. */
export function toExtensionHeaders({ context: { activatedExtensions } }: A2ACall): Record<string, string> {
  return activatedExtensions ? { [HTTP_EXTENSION_HEADER]: activatedExtensions.join(',') } : {};
}
