import { generateId } from '@intertie/core';
import { asFields, asNonEmptyText } from '@intertie/core/internal';
import type { Input } from './open-input.ts';
import { ToolError } from '../tool-error.ts';
import type { ToolIO } from '../tool-io.ts';

export interface EndpointOptions {
  /** Dialect of the endpoint, if known. */
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

/** Sends a prompt to an endpoint of any dialect, as one of its own clients would, and returns the response as bytes. */
export async function requestEndpoint(url: string, options: EndpointOptions, io: ToolIO): Promise<Input> {
  const { as, prompt = defaultPrompt, body, get } = options;
  const ask = (target: string, init: RequestInit): Promise<Response> => fetchEndpoint(target, init, options, io);
  if (get) return toInput(await ask(url, { method: 'GET' }), url, options);
  const post = (target: string, content: string): Promise<Response> =>
    ask(target, { method: 'POST', body: content, headers: { 'content-type': 'application/json' } });
  if (body !== undefined) return toInput(await post(url, body), url, options);
  if (as === 'mail') return requestMAIL();
  const response = await postAs(as);
  if (![401, 404, 405].includes(response.status) || as !== undefined) return toInput(response, url, options);
  // Any route of a MAIL server may refuse the request, so the server is recognized by its root.
  const root = await ask(url, { method: 'GET' }).then(readJson, () => undefined);
  if (asNonEmptyText(asFields(root).protocol_version) === undefined) return toInput(response, url, options);
  await response.body?.cancel();
  return requestMAIL();

  /** Some servers refuse the combined request because of unknown fields. Then each dialect is tried separately. */
  async function postAs(dialect: string | undefined): Promise<Response> {
    const first = await post(url, JSON.stringify(createRequestBody(dialect, prompt)));
    if (dialect !== undefined || !isRefusal(first)) return first;
    for (const other of ['ag-ui', 'ui-message-stream']) {
      const next = await post(url, JSON.stringify(createRequestBody(other, prompt)));
      if (isRefusal(next)) {
        await next.body?.cancel();
        continue;
      }
      await first.body?.cancel();
      return next;
    }
    return first;
  }

  async function requestMAIL(): Promise<Input> {
    const base = url.replace(/\/+$/, '').replace(/\/(?:ui\/)?message$/, '');
    const hasToken = Object.keys(options.headers ?? {}).some((name) => name.toLowerCase() === 'authorization');
    const target = `${base}${hasToken ? '/message' : '/ui/message'}`;
    return toInput(await post(target, JSON.stringify(createRequestBody('mail', prompt))), target, options);
  }
}

/** Creates a request body for one answer. Without a dialect, AG-UI servers and chat routes both understand it. */
function createRequestBody(as: string | undefined, prompt: string): object {
  const [thread, run, message] = [generateId(), generateId(), generateId()];
  const agUi = { threadId: thread, runId: run, tools: [], context: [], state: {}, forwardedProps: {} };
  const chat = { id: thread, trigger: 'submit-message' };
  const content = { content: prompt };
  const parts = { parts: [{ type: 'text', text: prompt }] };
  const user = { id: message, role: 'user' };
  if (as === 'mail') return { subject: 'New Message', body: prompt, stream: true, task_id: thread };
  if (as === 'ag-ui') return { ...agUi, messages: [{ ...user, ...content }] };
  if (as === 'ui-message-stream') return { ...chat, messages: [{ ...user, ...parts }] };
  return { ...agUi, ...chat, messages: [{ ...user, ...content, ...parts }] };
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

async function toInput(response: Response, url: string, options: EndpointOptions): Promise<Input> {
  if (!response.ok || response.body === null) {
    const body = (await response.text().catch(() => '')).trim();
    const shown = body === '' ? '' : `\n${body.length > 800 ? `${body.slice(0, 800)}…` : body}`;
    throw new ToolError(
      'unreadable',
      `${url} answered ${response.status} ${response.statusText}.${shown}`,
      suggestFix(response, options),
    );
  }
  const { timeoutMs = defaultTimeoutMs } = options;
  const isChat = response.headers.get('x-vercel-ai-ui-message-stream') !== null;
  const bytes = readWithTimeout(response.body, timeoutMs, () => createSilenceError(url, timeoutMs));
  const prompt = options.get || options.body !== undefined ? {} : { prompt: options.prompt ?? defaultPrompt };
  return { bytes, label: url, isLive: true, ...prompt, ...(isChat && { dialect: 'ui-message-stream' }) };
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

function suggestFix({ status }: Response, { get }: EndpointOptions): string | undefined {
  if (status === 401 || status === 403) return 'Send credentials: --header "authorization: Bearer …"';
  if (status === 404) return 'Give the complete route of the agent, with its path.';
  if (status === 405) return get ? 'Leave out --get to send a prompt.' : 'Add --get to read it without a request body.';
  if (status === 400 || status === 422)
    return 'Give the dialect (--as ag-ui, --as ui-message-stream), or a complete request: --body request.json';
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
