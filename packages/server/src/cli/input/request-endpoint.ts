import { generateId, type JsonObject, type Protocol } from '@intertie/core';
import { asFields, type ProtocolClient } from '@intertie/core/internal';
import { protocols } from '../../protocols.ts';
import type { Input } from './open-input.ts';
import { ToolError } from '../tool-error.ts';
import type { ToolIO } from '../tool-io.ts';

export interface EndpointOptions {
  /** Protocol of the endpoint, if known. */
  as?: string | undefined;
  /** Message to send. */
  prompt?: string | undefined;
  /** Request body to send instead of one with the prompt. */
  body?: string | undefined;
  headers?: Record<string, string> | undefined;
  /** Whether to read the URL with GET, as an existing stream. */
  get?: boolean | undefined;
  /** Maximum time without data, in milliseconds. Default: 60 s. */
  timeoutMs?: number | undefined;
}

const defaultPrompt = 'Say hello in one short sentence.';
const defaultTimeoutMs = 60_000;

/** Sends a prompt to an endpoint of any protocol, as one of its own clients would, and returns the response as bytes. */
export async function requestEndpoint(
  url: string,
  options: EndpointOptions,
  io: ToolIO,
  known: readonly Protocol[] = protocols,
): Promise<Input> {
  const { as, prompt = defaultPrompt, body, get, headers = {} } = options;
  const ask = (target: string, init: RequestInit): Promise<Response> => fetchEndpoint(target, init, options, io);
  const read = (response: Response, target = url): Promise<Input> => toInput(response, target, options, known);
  if (get) return read(await ask(url, { method: 'GET' }));
  const post = (target: string, content: string): Promise<Response> =>
    ask(target, { method: 'POST', body: content, headers: { 'content-type': 'application/json' } });
  if (body !== undefined) return read(await post(url, body));
  const clients = known.flatMap(({ client }) => client ?? []);
  const { pathname } = new URL(url);
  // Requests that cannot be combined with others are sent to the paths that are usual for their protocol.
  const usual = clients.find((client) => !client.canCombine && client.matchesPath?.(pathname));
  const requested = as === undefined ? usual : known.find(({ name }) => name === as)?.client;
  const combined = clients.filter(({ canCombine }) => canCombine);
  const send = (client: ProtocolClient): Promise<Response> =>
    post(getTarget(client), JSON.stringify(createBody([client], prompt)));
  const getTarget = (client: ProtocolClient): string => client.getUrl?.(url, headers) ?? url;
  if (requested) return read(await send(requested), getTarget(requested));
  const response = await postCombined();
  if (![401, 404, 405].includes(response.status) || as !== undefined) return read(response);
  // Any route may refuse the request, so some servers are recognized by their root.
  const root = await ask(url, { method: 'GET' }).then(readJson, () => undefined);
  const recognized = clients.find((client) => client.matchesRoot?.(root));
  if (!recognized) return read(response);
  await response.body?.cancel();
  return read(await send(recognized), getTarget(recognized));

  /** Some servers refuse the combined request because of unknown fields. Then each protocol is tried separately. */
  async function postCombined(): Promise<Response> {
    const first = await post(url, JSON.stringify(createBody(combined, prompt)));
    if (as !== undefined || !isRefusal(first)) return first;
    for (const client of combined) {
      const next = await send(client);
      if (isRefusal(next)) {
        await next.body?.cancel();
        continue;
      }
      await first.body?.cancel();
      return next;
    }
    return first;
  }
}

/** Creates a request body for one answer, which servers of all given protocols understand. */
function createBody(clients: readonly ProtocolClient[], prompt: string): JsonObject {
  const request = { prompt, threadId: generateId(), runId: generateId(), messageId: generateId() };
  const bodies = clients.map((client) => client.createBody(request));
  const messages = bodies.flatMap(({ messages: list }) => (Array.isArray(list) ? [asFields(list[0])] : []));
  const message = Object.assign({}, ...messages) as JsonObject;
  return { ...(Object.assign({}, ...bodies) as JsonObject), ...(messages.length > 0 && { messages: [message] }) };
}

async function fetchEndpoint(url: string, init: RequestInit, options: EndpointOptions, io: ToolIO): Promise<Response> {
  const { timeoutMs = defaultTimeoutMs, headers } = options;
  const limit = new AbortController();
  const timer = setTimeout(() => limit.abort(), timeoutMs);
  try {
    return await io.fetch(url, {
      ...init,
      headers: { accept: 'text/event-stream', ...(init.headers as Record<string, string>), ...headers },
      signal: AbortSignal.any([io.signal, limit.signal]),
    });
  } catch (error) {
    if (io.signal.aborted) throw error;
    if (limit.signal.aborted) throw createSilenceError(url, timeoutMs);
    const { code, message } = getCause(error);
    const reason = code === 'ECONNREFUSED' ? 'connection refused' : code === 'ENOTFOUND' ? 'host not found' : message;
    const fix = 'Check that the server is running and that the port is right.';
    throw new ToolError('unreadable', `Cannot reach ${url}: ${reason}.`, fix, { cause: error });
  } finally {
    clearTimeout(timer);
  }
}

/** Returns the error that `fetch` wraps as “fetch failed”. */
function getCause(error: unknown): { code?: string; message: string } {
  const { cause } = asFields(error);
  const inner = cause instanceof AggregateError ? cause.errors[0] : cause;
  const { code, message } = asFields(inner instanceof Error ? inner : error) as { code?: string; message: string };
  return { ...(code !== undefined && { code }), message };
}

function createSilenceError(url: string, timeoutMs: number): ToolError {
  const message = `${url} sent nothing for ${timeoutMs / 1000} s.`;
  return new ToolError('unreadable', message, 'Raise the limit if it needs longer: --timeout 300');
}

async function toInput(
  response: Response,
  url: string,
  options: EndpointOptions,
  known: readonly Protocol[],
): Promise<Input> {
  if (!response.ok || response.body === null) {
    const body = (await response.text().catch(() => '')).trim();
    const shown = body === '' ? '' : `\n${body.length > 800 ? `${body.slice(0, 800)}…` : body}`;
    throw new ToolError(
      'unreadable',
      `${url} answered ${response.status} ${response.statusText}.${shown}`,
      suggestFix(response, options, known),
    );
  }
  const { timeoutMs = defaultTimeoutMs } = options;
  const declared = known.find(({ framing: { header } }) => header !== undefined && response.headers.has(header));
  const bytes = readWithTimeout(response.body, timeoutMs, () => createSilenceError(url, timeoutMs));
  const prompt = options.get || options.body !== undefined ? {} : { prompt: options.prompt ?? defaultPrompt };
  return { bytes, label: url, isLive: true, ...prompt, ...(declared && { protocol: declared.name }) };
}

/** Reads a body on demand. Throws `failure()` if nothing arrives within the limit. Returning early closes the connection. */
async function* readWithTimeout(
  body: ReadableStream<Uint8Array>,
  limitMs: number,
  failure: () => Error,
): AsyncGenerator<Uint8Array, void> {
  const reader = body.getReader();
  let timer: ReturnType<typeof setTimeout> | undefined;
  try {
    for (;;) {
      const silence = new Promise<never>((_, reject) => {
        timer = setTimeout(() => reject(failure()), limitMs);
      });
      const { done, value } = await Promise.race([reader.read(), silence]);
      clearTimeout(timer);
      if (done) return;
      yield value;
    }
  } finally {
    clearTimeout(timer);
    // Not awaited: a stalled server may not react to the cancellation.
    reader.cancel().catch(() => undefined);
  }
}

function suggestFix({ status }: Response, { get }: EndpointOptions, known: readonly Protocol[]): string | undefined {
  if (status === 401 || status === 403) return 'Send credentials: --header "authorization: Bearer …"';
  if (status === 404) return 'Give the complete route of the agent, with its path.';
  if (status === 405) return get ? 'Leave out --get to send a prompt.' : 'Add --get to read it without a request body.';
  if (status === 400 || status === 422)
    return `Give the protocol (${known.flatMap(({ name, client }) => (client?.canCombine ? [`--as ${name}`] : [])).join(', ')}), or a complete request: --body request.json`;
  return undefined;
}

/** Whether the server has rejected the request body before doing anything. */
function isRefusal({ status }: Response): boolean {
  return status === 400 || status === 422;
}

/** Reads JSON only by content type: another body may be an endless stream. */
async function readJson(response: Response): Promise<unknown> {
  if (response.headers.get('content-type')?.includes('json')) return response.json();
  await response.body?.cancel();
  return undefined;
}
