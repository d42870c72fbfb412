import { asFields, asNonEmptyText } from '@intertie/core/internal';
import { ToolError } from './tool-error.ts';
import type { ToolIO } from './tool-io.ts';

export interface ServerOptions {
  /** Origin of an Intertie server. Default: `INTERTIE_URL`, or the default address of `intertie serve`. */
  server?: string | undefined;
  /** Default: `INTERTIE_TOKEN`. */
  token?: string | undefined;
  headers?: Record<string, string> | undefined;
}

export interface ServerClient {
  origin: string;
  headers: Record<string, string>;
  /** Requests a path and parses the JSON response. */
  get(path: string): Promise<unknown>;
  /** Requests a path. Rejects for an error status. */
  request(path: string, init?: RequestInit): Promise<Response>;
}

export const defaultServer = 'http://127.0.0.1:4111';

/** Client of the HTTP API of an Intertie server. Errors become a `ToolError` with the server's message and fix. */
export function createServerClient({ server, token, headers: extraHeaders }: ServerOptions, io: ToolIO): ServerClient {
  const origin = (server ?? io.env.INTERTIE_URL ?? defaultServer).replace(/\/+$/, '');
  const secret = token ?? io.env.INTERTIE_TOKEN;
  const headers = { ...(secret !== undefined && { authorization: `Bearer ${secret}` }), ...extraHeaders };

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
      const fix = 'Start one with “intertie serve”, or give its address with --server http://…';
      throw new ToolError('unreadable', `No Intertie server answers at ${origin}.`, fix, { cause: error });
    }
    if (response.ok) return response;
    const { error } = asFields(await response.json().catch(() => undefined));
    const { message, fix } = asFields(error);
    const advice =
      asNonEmptyText(fix) ?? (response.status === 401 ? 'Give the token with --token or INTERTIE_TOKEN.' : undefined);
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
        const fix = 'Give the address of an Intertie server with --server http://…';
        throw new ToolError('unreadable', `The server at ${origin} is not an Intertie server.`, fix);
      }
    },
  };
}
