import { sourceStream, type AgentSource, type RunInput } from '@intertie/core';
import { readMessageId } from '../decode/adopt-message-id.ts';
import { agUiCodec, flushMs, type AGUIRequestOptions } from './ag-ui-source.ts';
import { declaredVersion } from '../shared/ag-ui-version.ts';
import { requestRun } from './request-run.ts';
import { toResponseError, sseEvents } from '../wire/http-events.ts';
import { defined, asFields, asNonEmptyText } from '../shared/read-fields.ts';

export interface FindReplayOptions extends AGUIRequestOptions {
  now?: () => number;
}

/** When the reader leaves, and whether that is a stop: see `requestRun`. */
type ReaderState = { signal: AbortSignal | undefined; isStopped: () => boolean };

/** Run that is streamed from its start, and the source of its events. */
export type Replay = { run: RunInput; source: AgentSource };

/**
 * Requests the last answer of a thread from its start, live or just ended. Returns null if there is none, or the agent is not an
 * Intertie agent: AG-UI has no request for it.
 */
export async function findReplay(
  threadId: string,
  options: FindReplayOptions,
  { signal, isStopped }: ReaderState,
): Promise<Replay | null> {
  // The request needs HTTP.
  if (/^wss?:/.test(options.url)) return null;
  const query = { threadId, protocolVersion: declaredVersion, replay: 'true' };
  // `signal` applies until the run is read. Then the reader's signal does, which also aborts at the end of the run.
  const abort = new AbortController();
  const leave = (): void => abort.abort(signal?.reason);
  if (signal?.aborted) leave();
  signal?.addEventListener('abort', leave);
  const response = await requestRun(options, { method: 'GET' }, { threadId, query, leave: abort.signal, isStopped });
  if (response.status >= 500 && response.status !== 501) throw await toResponseError(options, response);
  const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') === true;
  if (response.status !== 200 || response.body === null || !isStream) {
    await response.body?.cancel().catch(() => undefined);
    return null;
  }
  const events = sseEvents(response.body);
  const { value: first } = await events.next();
  const messageId = readMessageId(first);
  const runId = asNonEmptyText(asFields(first).runId);
  if (messageId === undefined || runId === undefined) {
    await events.return();
    return null;
  }
  const { name = 'replay', now = Date.now, idleMs, onFrame, onLoss } = options;
  const ids = { runId, threadId, messageId, startedAt: now() };
  const run: RunInput = { ...ids, history: [], answers: [], tools: [], context: [] };
  const source: AgentSource = {
    name,
    pauses: 'replay',
    run: (input, control) => {
      signal?.removeEventListener('abort', leave);
      control.signal.addEventListener('abort', leave, { once: true });
      const read = (done: AbortSignal): AsyncIterable<unknown> => {
        done.addEventListener('abort', leave, { once: true });
        return withFirst(first, events);
      };
      const codec = agUiCodec(input, { origins: onFrame !== undefined, ...defined({ onLoss }) });
      return sourceStream(read, codec, { signal: control.signal, flushMs, ...defined({ idleMs, onFrame }) });
    },
  };
  return { run, source };
}

async function* withFirst(first: unknown, events: AsyncGenerator<unknown, void, undefined>): AsyncGenerator {
  try {
    yield first;
    yield* events;
  } finally {
    await events.return();
  }
}
