import { compose, seal, sourceStream, toFault, type AgentSource, type RunControl, type RunInput } from '@intertie/core';
import { createParser } from 'eventsource-parser';
import { createOpenHarnessServerDecoder, type OpenHarnessServerDecoderOptions } from './decode-open-harness-server.ts';
import { isFields, nameOf } from '@intertie/core/fields';
import { createInputQueue } from '../runtime/input-queue.ts';
import { isServerEvent } from './server-event.ts';

export interface OpenHarnessServerSourceOptions extends OpenHarnessServerDecoderOptions {
  /** For example `http://127.0.0.1:42069`. */
  baseUrl: string;
  /** The session to follow, or how to find a run's. */
  sessionId: string | ((run: RunInput) => string | Promise<string>);
  name?: string;
  headers?: Record<string, string>;
  /** After how long a silence the server is asked whether the session still runs, in milliseconds. Default: 2000. */
  pollMs?: number;
  fetch?: typeof fetch;
}

const defaultPollMs = 2000;

/**
 * Follows a session of the later server, from its beginning; it starts and answers none. The server sends an answer in one
 * burst, says nothing of a failure and never ends its stream, so a silence is looked into: a session that no longer runs and
 * was not completed has failed, and one with an open question is paused.
 */
export function openHarnessServerSource(options: OpenHarnessServerSourceOptions): AgentSource {
  return {
    name: options.name ?? 'open-harness-server',
    pauses: 'token',
    run: (run, control) => followSession(options, run, control),
  };
}

function followSession(
  options: OpenHarnessServerSourceOptions,
  run: RunInput,
  { signal }: RunControl,
): ReturnType<AgentSource['run']> {
  const { onLoss = () => undefined } = options;
  const codec = compose(createOpenHarnessServerDecoder(run, options), seal(run, onLoss));
  const open = async (): Promise<ReadableStream<unknown>> => {
    if (run.answers.length > 0) throw new Error(unanswerableMessage);
    const { sessionId } = options;
    return readSession(options, typeof sessionId === 'string' ? sessionId : await sessionId(run));
  };
  return sourceStream(open, codec, { signal });
}

const unanswerableMessage =
  'This question cannot be answered over HTTP: the Open Harness server publishes an answer and does not hand it to the ' +
  'workflow, which would wait for ever. Answer where the workflow runs, with its humanInput option.';

/** The events of a session. Fails if the session is over without a word. */
function readSession(options: OpenHarnessServerSourceOptions, sessionId: string): ReadableStream<unknown> {
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
    queue.fail(toFault(error, 'session'));
  };

  const restartTimer = (): void => {
    clearTimeout(timer);
    if (!signal.aborted) timer = setTimeout(() => void checkSession().catch(fail), pollMs);
  };

  /** Nothing has come for a while. */
  const checkSession = async (): Promise<void> => {
    if (questions.size > 0) {
      stopReading();
      return queue.close();
    }
    const response = await request(session, { signal, ...(headers && { headers }) });
    const state: unknown = response.ok ? await response.json() : undefined;
    const isOver = response.status === 404 || (isFields(state) && state.running === false);
    // Its last events may still be on their way, so it is asked twice.
    if (isOver && wasOver) throw new Error(formatLostSession(sessionId));
    wasOver = isOver;
    restartTimer();
  };

  const parser = createParser({
    onEvent: ({ data }) => {
      const event = parseData(data);
      if (isServerEvent(event)) {
        const id = nameOf(event.payload.id);
        if (event.name === 'input:requested' && id !== undefined) questions.add(id);
        if (event.name === 'input:received' && id !== undefined) questions.delete(id);
      }
      queue.push(event);
    },
  });

  const read = async (): Promise<void> => {
    const accept = { accept: 'text/event-stream', ...headers };
    // With its history: what was said between the session's start and now would be lost.
    const response = await request(`${session}/events?history=true`, { headers: accept, signal });
    if (!response.ok || response.body === null) throw new Error(await formatRefusal(response, sessionId));
    const reader = response.body.getReader();
    // A fetch of somebody else's may not do it by itself.
    signal.addEventListener('abort', () => void reader.cancel(signal.reason).catch(() => undefined));
    restartTimer();
    const decoder = new TextDecoder();
    for (;;) {
      // oxlint-disable-next-line no-await-in-loop -- one piece after the other
      const { done, value } = await reader.read();
      if (done) break;
      wasOver = false;
      parser.feed(decoder.decode(value, { stream: true }));
      restartTimer();
    }
    stopReading();
    queue.close();
  };

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
  return `The Open Harness server refused the events of session "${sessionId}" (${response.status}). ${body}`.trim();
}

function formatLostSession(sessionId: string): string {
  return (
    `The session "${sessionId}" no longer runs, and its workflow was not completed. ` +
    'The server tells only its own log why a workflow fails; look there.'
  );
}
