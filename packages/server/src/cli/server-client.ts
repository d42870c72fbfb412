import { asFields, asNonEmptyText } from '@intertie/core/internal';
import { ToolError } from './tool-error.ts';
import type { ToolIO } from './tool-io.ts';

export interface ServerOptions {
  /** The origin of an Intertie server. Default: `INTERTIE_URL`, then the one that `intertie serve` opens. */
  server?: string | undefined;
  /** Default: `INTERTIE_TOKEN`. */
  token?: string | undefined;
  headers?: Record<string, string> | undefined;
}

export interface ServerClient {
  origin: string;
  headers: Record<string, string>;
  /** The answer’s JSON. */
  get(path: string): Promise<unknown>;
  /** The answer itself, which is a good one. */
  request(path: string, init?: RequestInit): Promise<Response>;
}

export const defaultServer = 'http://127.0.0.1:4111';

/** Talks to an Intertie server over its HTTP API. What it refuses becomes a `ToolError` with the server’s own advice. */
export function createServerClient({ server, token, headers: more }: ServerOptions, io: ToolIO): ServerClient {
  const origin = (server ?? io.env.INTERTIE_URL ?? defaultServer).replace(/\/+$/, '');
  const secret = token ?? io.env.INTERTIE_TOKEN;
  const headers = { ...(secret !== undefined && { authorization: `Bearer ${secret}` }), ...more };

  const request: ServerClient['request'] = async (path, init = {}) => {
    let response: Response;
    try {
      response = await io.fetch(`${origin}${path}`, {
        ...init,
        headers: { ...headers, ...(init.headers as Record<string, string>) },
        signal: io.signal,
      });
    } catch (error) {
      if (io.signal.aborted) throw error;
      const fix = 'Start one with “intertie serve”, or say where it is: --server http://…';
      throw new ToolError('unreadable', `No Intertie server answers at ${origin}.`, fix, { cause: error });
    }
    if (response.ok) return response;
    const { error } = asFields(await response.json().catch(() => undefined));
    const { message, fix } = asFields(error);
    const advice =
      asNonEmptyText(fix) ?? (response.status === 401 ? 'Give the token: --token …, or INTERTIE_TOKEN.' : undefined);
    throw new ToolError(
      'unreadable',
      asNonEmptyText(message) ?? `${origin}${path} answered ${response.status}.`,
      advice,
    );
  };
  return {
    origin,
    headers,
    request,
    get: async (path) => {
      const response = await request(path);
      try {
        return (await response.json()) as unknown;
      } catch {
        const fix = 'Is something else running there? Say where the server is: --server http://…';
        throw new ToolError('unreadable', `What answers at ${origin} is no Intertie server.`, fix);
      }
    },
  };
}
