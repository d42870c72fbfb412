import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Principal } from '../config/config.ts';

/** Types of the Hono context. The connection is known only on Node's HTTP server. */
export type ServerEnv = {
  Bindings: { incoming?: IncomingMessage; outgoing?: ServerResponse } | undefined;
  Variables: { principal: Principal; requestId: string; origin: string };
};

export function remoteAddress(env: ServerEnv['Bindings']): string | undefined {
  return env?.incoming?.socket.remoteAddress;
}
