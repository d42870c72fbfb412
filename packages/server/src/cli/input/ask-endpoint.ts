import { generateId } from '@intertie/core';
import { asFields, asNonEmptyText } from '@intertie/core/internal';
import { guardSilence } from './guard-silence.ts';
import type { Input } from './open-input.ts';
import { ToolError } from '../tool-error.ts';
import type { ToolIO } from '../tool-io.ts';

export interface EndpointOptions {
  /** The dialect that the endpoint speaks, where it is known. */
  as?: string | undefined;
  /** What is said to it. */
  prompt?: string | undefined;
  /** Sent instead of a request that is made up for the prompt. */
  body?: string | undefined;
  headers?: Record<string, string> | undefined;
  /** It is a stream that is just there: read it, ask nothing. */
  get?: boolean | undefined;
  /** How long it may be silent, in milliseconds. */
  timeoutMs?: number | undefined;
}

const defaultPrompt = 'Say hello in one short sentence.';
const defaultTimeoutMs = 60_000;

/** Asks an endpoint of any kind, as one of its own clients would. The answer is a stream of bytes. */
export async function askEndpoint(url: string, options: EndpointOptions, io: ToolIO): Promise<Input> {
  const { as, prompt = defaultPrompt, body, get } = options;
  const ask = (target: string, init: RequestInit): Promise<Response> => request(target, init, options, io);
  if (get) return toInput(await ask(url, { method: 'GET' }), url, options);
  const post = (target: string, content: string): Promise<Response> =>
    ask(target, { method: 'POST', body: content, headers: { 'content-type': 'application/json' } });
  if (body !== undefined) return toInput(await post(url, body), url, options);
  if (as === 'mail') return askMail();
  const response = await postAs(as);
  if (![401, 404, 405].includes(response.status) || as !== undefined) return toInput(response, url, options);
  // A MAIL server is known by what it says at its root, not by its routes.
  const root = await ask(url, { method: 'GET' }).then(readJson, () => undefined);
  if (asNonEmptyText(asFields(root).protocol_version) === undefined) return toInput(response, url, options);
  await response.body?.cancel();
  return askMail();

  /** Some servers refuse what they do not know, and with it a request that is made for all: they are asked in one way each. */
  async function postAs(dialect: string | undefined): Promise<Response> {
    const first = await post(url, JSON.stringify(requestFor(dialect, prompt)));
    if (dialect !== undefined || !isRefusal(first)) return first;
    for (const other of ['ag-ui', 'ui-message-stream']) {
      const next = await post(url, JSON.stringify(requestFor(other, prompt)));
      if (isRefusal(next)) {
        await next.body?.cancel();
        continue;
      }
      await first.body?.cancel();
      return next;
    }
    return first;
  }

  async function askMail(): Promise<Input> {
    const base = url.replace(/\/+$/, '').replace(/\/(?:ui\/)?message$/, '');
    const hasToken = Object.keys(options.headers ?? {}).some((name) => name.toLowerCase() === 'authorization');
    const target = `${base}${hasToken ? '/message' : '/ui/message'}`;
    return toInput(await post(target, JSON.stringify(requestFor('mail', prompt))), target, options);
  }
}

/** A request that asks for one answer. Without a dialect, one that both AG-UI servers and those of `useChat` understand. */
function requestFor(as: string | undefined, prompt: string): object {
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

async function request(url: string, init: RequestInit, options: EndpointOptions, io: ToolIO): Promise<Response> {
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
    if (limit.signal.aborted) throw silent(url, timeoutMs);
    const { code, message } = causeOf(error);
    const why =
      code === 'ECONNREFUSED' ? 'nothing listens there' : code === 'ENOTFOUND' ? 'there is no such host' : message;
    throw new ToolError(
      'unreadable',
      `${url} cannot be reached: ${why}.`,
      'Is the server running, and is the port right?',
      {
        cause: error,
      },
    );
  } finally {
    clearTimeout(timer);
  }
}

/** What `fetch` hides behind “fetch failed”. */
function causeOf(error: unknown): { code?: string; message: string } {
  const { cause } = asFields(error);
  const inner = cause instanceof AggregateError ? cause.errors[0] : cause;
  const { code, message } = asFields(inner instanceof Error ? inner : error) as { code?: string; message: string };
  return { ...(code !== undefined && { code }), message };
}

function silent(url: string, timeoutMs: number): ToolError {
  const message = `${url} has said nothing for ${timeoutMs / 1000} s.`;
  return new ToolError('unreadable', message, 'If it may take longer, give it time: --timeout 300');
}

async function toInput(response: Response, url: string, options: EndpointOptions): Promise<Input> {
  if (!response.ok || response.body === null) {
    const said = (await response.text().catch(() => '')).trim();
    const shown = said === '' ? '' : `\n${said.length > 800 ? `${said.slice(0, 800)}…` : said}`;
    throw new ToolError(
      'unreadable',
      `${url} answered ${response.status} ${response.statusText}.${shown}`,
      fixFor(response, options),
    );
  }
  const { timeoutMs = defaultTimeoutMs } = options;
  const isChat = response.headers.get('x-vercel-ai-ui-message-stream') !== null;
  const bytes = guardSilence(response.body, timeoutMs, () => silent(url, timeoutMs));
  const asked = options.get || options.body !== undefined ? {} : { asked: options.prompt ?? defaultPrompt };
  return { bytes, label: url, isLive: true, ...asked, ...(isChat && { dialect: 'ui-message-stream' }) };
}

function fixFor({ status }: Response, { get }: EndpointOptions): string | undefined {
  if (status === 401 || status === 403) return 'Send what it asks for: --header "authorization: Bearer …"';
  if (status === 404) return 'Is it the agent’s own route, with its path?';
  if (status === 405) return get ? 'It wants to be asked: leave out --get.' : 'To read it without asking, add --get.';
  if (status === 400 || status === 422)
    return 'Say what it speaks (--as ag-ui, --as ui-message-stream), or send your own request: --body request.json';
  return undefined;
}

/** The request was read, and is not what it should be. Nothing has been done. */
function isRefusal({ status }: Response): boolean {
  return status === 400 || status === 422;
}

/** What is no JSON may be a stream without an end. */
async function readJson(response: Response): Promise<unknown> {
  if (response.headers.get('content-type')?.includes('json')) return response.json();
  await response.body?.cancel();
  return undefined;
}
