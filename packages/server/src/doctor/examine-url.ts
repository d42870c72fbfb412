import { defined } from '@intertie/core/internal';

/** Result of one check. `absent` means not configured, which is fine; `next` says how to configure it. */
export type Finding = {
  what: string;
  state: 'fine' | 'absent' | 'broken';
  found: string;
  /** The next step. */
  next?: string;
};

const timeoutMs = 5_000;

/** Detects the server at a URL (Intertie, MAIL or AG-UI) and whether it can be used. */
export async function examineUrl(url: string, token: string | undefined): Promise<Finding> {
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)) {
    return { what: url, state: 'broken', found: 'not a URL', next: 'Give an address such as http://127.0.0.1:4111' };
  }
  const headers = token === undefined ? undefined : { authorization: `Bearer ${token}` };
  try {
    return (await probeIntertie(url, headers)) ?? (await probeMAIL(url, token)) ?? (await probeAGUI(url, headers));
  } catch (error) {
    const next = 'Check that the server is running and that the port is right.';
    return { what: url, state: 'broken', found: formatError(error), next };
  }
}

async function request(url: string, init: RequestInit): Promise<Response> {
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

async function probeMAIL(url: string, token: string | undefined): Promise<Finding | undefined> {
  const { createMAIL } = await import('@intertie/mail');
  const check = await createMAIL({ baseUrl: url, ...(token !== undefined && { authToken: token }) }).check();
  if (!check.reachable) return undefined;
  const found = `MAIL ${check.version ?? '?'} with ${check.agents.map(({ name }) => name).join(', ') || 'a swarm'}`;
  return { what: url, state: check.ok ? 'fine' : 'broken', found, ...defined({ next: check.next }) };
}

/** Recognizes an AG-UI agent by its refusal of an empty request: every valid request would start a run. */
async function probeAGUI(url: string, headers: { [name: string]: string } | undefined): Promise<Finding> {
  const sent = { 'content-type': 'application/json', accept: 'text/event-stream', ...headers };
  const response = await request(url, { method: 'POST', headers: sent, body: '{}' });
  const type = response.headers.get('content-type') ?? '';
  await response.body?.cancel();
  if (type.includes('event-stream') || response.status === 400 || response.status === 422) {
    return { what: url, state: 'fine', found: `accepts POST like an AG-UI agent (${response.status})` };
  }
  const next = 'Give the address of an Intertie server, a MAIL server or an AG-UI agent.';
  return { what: url, state: 'broken', found: `unknown kind of server, status ${response.status}`, next };
}

/** Formats an error with its cause. */
export function formatError(error: unknown): string {
  const { message, cause } = error as { message?: string; cause?: unknown };
  const why = cause instanceof Error && cause.message !== message ? ` (${cause.message})` : '';
  return `${message ?? String(error)}${why}`;
}
