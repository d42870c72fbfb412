import { messageOf, type Finding } from './finding.ts';

const timeoutMs = 5_000;

/** What answers at a URL: an Intertie server, a MAIL server, or an AG-UI agent; and whether it can be used. */
export async function examineUrl(url: string, token: string | undefined): Promise<Finding> {
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)) {
    return { what: url, state: 'broken', found: 'is no URL', next: 'Give an address such as http://127.0.0.1:4111' };
  }
  const headers = token === undefined ? undefined : { authorization: `Bearer ${token}` };
  try {
    return (await asIntertie(url, headers)) ?? (await asMAIL(url, token)) ?? (await asAGUI(url, headers));
  } catch (error) {
    const next = 'Nothing answers there. Is it started, and is the port right?';
    return { what: url, state: 'broken', found: messageOf(error), next };
  }
}

async function ask(url: string, init: RequestInit): Promise<Response> {
  return fetch(url, { ...init, signal: AbortSignal.timeout(timeoutMs) });
}

async function asIntertie(url: string, headers: { [name: string]: string } | undefined): Promise<Finding | undefined> {
  const response = await ask(new URL('/api/agents', url).href, headers ? { headers } : {});
  const body = (await response.json().catch(() => undefined)) as
    | { agents?: Array<{ name: string }>; version?: string; error?: { code?: string; message?: string; fix?: string } }
    | undefined;
  if (body?.agents && body.version !== undefined) {
    const names = body.agents.map(({ name }) => name).join(', ');
    return { what: url, state: 'fine', found: `Intertie ${body.version} with ${names}` };
  }
  if (body?.error?.code === undefined) return undefined;
  const { message = body.error.code, fix } = body.error;
  return { what: url, state: 'broken', found: `Intertie refuses: ${message}`, ...(fix !== undefined && { next: fix }) };
}

async function asMAIL(url: string, token: string | undefined): Promise<Finding | undefined> {
  const { createMAIL } = await import('@intertie/mail');
  const check = await createMAIL({ baseUrl: url, ...(token !== undefined && { authToken: token }) }).check();
  if (!check.reachable) return undefined;
  const found = `MAIL ${check.version ?? '?'} with ${check.agents.map(({ name }) => name).join(', ') || 'a swarm'}`;
  return {
    what: url,
    state: check.ok ? 'fine' : 'broken',
    found,
    ...(check.next !== undefined && { next: check.next }),
  };
}

/** An agent cannot be asked anything but to run; a request that it has to refuse is enough to know that it is one. */
async function asAGUI(url: string, headers: { [name: string]: string } | undefined): Promise<Finding> {
  const sent = { 'content-type': 'application/json', accept: 'text/event-stream', ...headers };
  const response = await ask(url, { method: 'POST', headers: sent, body: '{}' });
  const type = response.headers.get('content-type') ?? '';
  await response.body?.cancel();
  if (type.includes('event-stream') || response.status === 400 || response.status === 422) {
    return { what: url, state: 'fine', found: `takes posts as an AG-UI agent does (${response.status})` };
  }
  const next = 'Give the address of an Intertie server, of a MAIL server, or of an AG-UI agent.';
  return { what: url, state: 'broken', found: `answers ${response.status}, and is none that is known`, next };
}
