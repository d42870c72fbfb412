import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Principal } from '../config/config.ts';

/** What Hono hands from one handler to the next. On Node the connection is known; elsewhere it is not. */
export type ServerEnv = {
  Bindings: { incoming?: IncomingMessage; outgoing?: ServerResponse } | undefined;
  Variables: { principal: Principal; requestId: string };
};

export function remoteAddress(env: ServerEnv['Bindings']): string | undefined {
  return env?.incoming?.socket.remoteAddress;
}
