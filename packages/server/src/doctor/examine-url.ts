import type { Protocol } from '@intertie/core';
import { defined, type Probe, type ProtocolConnection } from '@intertie/core/internal';

/** Result of one check. `absent` means not configured, which is fine; `next` says how to configure it. */
export type Finding = {
  what: string;
  state: 'fine' | 'absent' | 'broken';
  found: string;
  /** The next step. */
  next?: string;
};

/** Maximum time for one request. */
export const timeoutMs = 5_000;

/** Detects the server at a URL and whether it can be used. */
export async function examineUrl(
  url: string,
  token: string | undefined,
  protocols: readonly Protocol[],
): Promise<Finding> {
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)) {
    return { what: url, state: 'broken', found: 'not a URL', next: 'Give an address such as http://127.0.0.1:4111' };
  }
  const headers = token === undefined ? undefined : { authorization: `Bearer ${token}` };
  try {
    const send: typeof fetch = (input, init = {}) => request(input, init);
    const connection = { url, fetch: send, headers: headers ?? {}, token };
    return (await probeIntertie(url, headers)) ?? (await probeProtocols(connection, protocols));
  } catch (error) {
    const next = 'Check that the server is running and that the port is right.';
    return { what: url, state: 'broken', found: formatError(error), next };
  }
}

async function request(url: string | URL | Request, init: RequestInit): Promise<Response> {
  return fetch(url, { ...init, signal: AbortSignal.timeout(timeoutMs) });
}

async function probeIntertie(
  url: string,
  headers: { [name: string]: string } | undefined,
): Promise<Finding | undefined> {
  const response = await request(new URL('/api/agents', url).href, headers ? { headers } : {});
  const body = (await response.json().catch(() => undefined)) as
    | { agents?: Array<{ name: string }>; version?: string; error?: { code?: string; message?: string; fix?: string } }
    | undefined;
  if (body?.agents && body.version !== undefined) {
    const names = body.agents.map(({ name }) => name).join(', ');
    return { what: url, state: 'fine', found: `Intertie ${body.version} with ${names}` };
  }
  if (body?.error?.code === undefined) return undefined;
  const { message = body.error.code, fix } = body.error;
  return { what: url, state: 'broken', found: `Intertie refuses: ${message}`, ...defined({ next: fix }) };
}

/** Asks every protocol whether it recognizes the server. A certain result has priority over a guess. */
async function probeProtocols(connection: ProtocolConnection, protocols: readonly Protocol[]): Promise<Finding> {
  const { url: what } = connection;
  let guess: Probe | undefined;
  for (const { client } of protocols) {
    const probe = await client?.probe?.(connection);
    if (probe && !probe.isGuess) return toFinding(what, probe);
    guess ??= probe;
  }
  if (guess) return toFinding(what, guess);
  const servers = protocols.flatMap(({ client }) => (client?.probe ? [client.server] : []));
  const next = `Give the address of an Intertie server, ${servers.slice(0, -1).join(', ')} or ${servers.at(-1)}.`;
  const { status } = await connection.fetch(what);
  return { what, state: 'broken', found: `unknown kind of server, status ${status}`, next };
}

/** Converts the result of a probe. */
export function toFinding(what: string, { isFine, found, next }: Probe): Finding {
  return { what, state: isFine ? 'fine' : 'broken', found, ...defined({ next }) };
}

/** Formats an error with its cause. */
export function formatError(error: unknown): string {
  const { message, cause } = error as { message?: string; cause?: unknown };
  const why = cause instanceof Error && cause.message !== message ? ` (${cause.message})` : '';
  return `${message ?? String(error)}${why}`;
}
