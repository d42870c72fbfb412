import {
  compose,
  seal,
  sourceStream,
  toFault,
  type AgentEvent,
  type AgentSource,
  type Codec,
  type OnLoss,
  type ResumePoint,
  type RunControl,
  type RunInput,
} from '@intertie/core';
import { createParser } from 'eventsource-parser';
import { createOpenHarnessServerDecoder, type OpenHarnessServerDecoderOptions } from './decode-open-harness-server.ts';
import { asNonEmptyText, isFields, nameBrokenConnection, resumeReplay, retryRequest } from '@intertie/core/internal';
import { createInputQueue } from '../runtime/input-queue.ts';
import { isServerEvent } from './server-event.ts';

export interface OpenHarnessServerSourceOptions extends OpenHarnessServerDecoderOptions {
  /** URL of the server, for example `http://127.0.0.1:42069`. */
  baseUrl: string;
  /**
   * Session to follow, or a function that finds the session of a run. A function that creates sessions is called again for a run
   * whose process died before its session was stored, so it should return the same session for the same `runId`.
   */
  sessionId: string | ((run: RunInput) => string | Promise<string>);
  name?: string;
  headers?: Record<string, string>;
  /** Silence after which the server is asked whether the session still runs, in milliseconds. Default: 2000. */
  pollMs?: number;
  fetch?: typeof fetch;
}

const defaultPollMs = 2000;

/**
 * Creates a source that follows a session of an Open Harness server from its beginning. It cannot start or answer sessions. The
 * server does not report failures and never ends its stream, so the session is checked after a silence: one that no longer
 * runs and was not completed has failed, and one with an open question is paused. A run whose process has died follows the session
 * again and continues after the last logged event.
 */
export function openHarnessServerSource(options: OpenHarnessServerSourceOptions): AgentSource {
  return {
    name: getName(options),
    pauses: 'token',
    run: (run, control) => followSession(options, run, control),
    resume: (run, from, control) => followSession(options, run, control, from),
  };
}

function getName({ name = 'open-harness-server' }: OpenHarnessServerSourceOptions): string {
  return name;
}

/** Follows the session of a run from its beginning. With `from`, emits only the events that the log lacks. */
function followSession(
  options: OpenHarnessServerSourceOptions,
  run: RunInput,
  { signal }: RunControl,
  from?: ResumePoint,
): ReturnType<AgentSource['run']> {
  const { onLoss = () => undefined } = options;
  const decode = (input: RunInput, report: OnLoss): Codec<unknown, AgentEvent> =>
    withCheckpoint(createOpenHarnessServerDecoder(input, { ...options, onLoss: report }));
  const codec = from ? resumeReplay(run, from, { decode, onLoss }) : compose(decode(run, onLoss), seal(run, onLoss));
  const open = async (): Promise<ReadableStream<unknown>> => {
    if (run.answers.length > 0) throw new Error(unanswerableMessage);
    const { sessionId } = options;
    const known = isFields(from?.token) ? asNonEmptyText(from.token.sessionId) : undefined;
    if (known !== undefined) return readSession(options, known, true);
    return readSession(options, typeof sessionId === 'string' ? sessionId : await sessionId(run));
  };
  return sourceStream(open, codec, { signal });
}

/** First item of the input of a run: the session that it follows. */
class FollowedSession {
  readonly id: string;
  constructor(id: string) {
    this.id = id;
  }
}

/** Emits a checkpoint with the session before its events. */
function withCheckpoint(decoder: Codec<unknown, AgentEvent>): Codec<unknown, AgentEvent> {
  return {
    feed(item, emit) {
      if (item instanceof FollowedSession) emit({ type: 'checkpoint', token: { sessionId: item.id } });
      else decoder.feed(item, emit);
    },
    end: (end, emit) => decoder.end(end, emit),
  };
}

/** Creates the error of a session that cannot be read again. Clients see its text, so it contains no text of the server. */
function toLostError(sessionId: string, cause: unknown): Error {
  const message =
    `The Open Harness server does not return the session "${sessionId}" of this run. The output so far is kept. ` +
    'Start a new session and send the message again.';
  return Object.assign(new Error(message), { code: 'lost', cause });
}

const unanswerableMessage =
  'This question cannot be answered over HTTP: the Open Harness server publishes an answer but does not pass it to the ' +
  'workflow, which would wait forever. Answer in the process of the workflow, with its humanInput option.';

/** Streams the events of a session. Fails if the session ended without an event. */
function readSession(
  options: OpenHarnessServerSourceOptions,
  sessionId: string,
  isResumed = false,
): ReadableStream<unknown> {
  const { pollMs = defaultPollMs, headers, fetch: request = fetch } = options;
  const session = `${options.baseUrl.replace(/\/+$/, '')}/sessions/${encodeURIComponent(sessionId)}`;
  const stop = new AbortController();
  const { signal } = stop;
  const questions = new Set<string>();
  let timer: ReturnType<typeof setTimeout> | undefined;
  let wasOver = false;

  const queue = createInputQueue<unknown>((reason) => {
    clearTimeout(timer);
    stop.abort(reason);
  });
  const stopReading = (): void => {
    clearTimeout(timer);
    stop.abort();
  };
  const fail = (error: unknown): void => {
    if (signal.aborted) return;
    stopReading();
    queue.fail(toFault(nameBrokenConnection(error, getName(options), true), 'session'));
  };

  const restartTimer = (): void => {
    clearTimeout(timer);
    if (!signal.aborted) timer = setTimeout(() => void checkSession().catch(fail), pollMs);
  };

  /** Checks the session after `pollMs` without an event. */
  const checkSession = async (): Promise<void> => {
    if (questions.size > 0) {
      stopReading();
      return queue.close();
    }
    const response = await request(session, { signal, ...(headers && { headers }) });
    const state: unknown = response.ok ? await response.json() : undefined;
    const isOver = response.status === 404 || (isFields(state) && state.running === false);
    // Check twice, because the last events may still be in transit.
    if (isOver && wasOver) throw new Error(formatLostSession(sessionId));
    wasOver = isOver;
    restartTimer();
  };

  const parser = createParser({
    onEvent: ({ data }) => {
      const event = parseData(data);
      if (isServerEvent(event)) {
        const id = asNonEmptyText(event.payload.id);
        if (event.name === 'input:requested' && id !== undefined) questions.add(id);
        if (event.name === 'input:received' && id !== undefined) questions.delete(id);
      }
      queue.push(event);
    },
  });

  const openEvents = async (): Promise<ReadableStream<Uint8Array>> => {
    const accept = { accept: 'text/event-stream', ...headers };
    // With the history, so that no event since the session's start is missing.
    const send = (): Promise<Response> => request(`${session}/events?history=true`, { headers: accept, signal });
    const response = await (isResumed ? retryRequest(send, signal) : send());
    if (!response.ok || response.body === null) throw new Error(await formatRefusal(response, sessionId));
    return response.body;
  };

  const read = async (): Promise<void> => {
    const body = await openEvents().catch((error: unknown) => {
      throw isResumed ? toLostError(sessionId, error) : error;
    });
    const reader = body.getReader();
    // A custom `fetch` may ignore the signal.
    signal.addEventListener('abort', () => void reader.cancel(signal.reason).catch(() => undefined));
    restartTimer();
    const decoder = new TextDecoder();
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      wasOver = false;
      parser.feed(decoder.decode(value, { stream: true }));
      restartTimer();
    }
    stopReading();
    queue.close();
  };

  queue.push(new FollowedSession(sessionId));
  read().catch(fail);
  return queue.stream;
}

function parseData(data: string): unknown {
  try {
    return JSON.parse(data);
  } catch {
    return data;
  }
}

async function formatRefusal(response: Response, sessionId: string): Promise<string> {
  if (response.status === 404) return `The Open Harness server has no session "${sessionId}".`;
  const body = (await response.text().catch(() => '')).slice(0, 200);
  return `The Open Harness server rejected the request for session "${sessionId}" (${response.status}). ${body}`.trim();
}

function formatLostSession(sessionId: string): string {
  return (
    `The session "${sessionId}" no longer runs, and its workflow was not completed. ` +
    'Check the server log: the server does not report why a workflow failed.'
  );
}
