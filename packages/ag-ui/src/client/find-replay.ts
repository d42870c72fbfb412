import { sourceStream, type AgentSource, type RunInput } from '@intertie/core';
import { messageIdOf } from '../decode/adopt-message-id.ts';
import { agUiCodec, flushMs, type AGUISourceOptions } from './ag-ui-source.ts';
import { declaredVersion } from '../shared/ag-ui-version.ts';
import { askForRun } from './request-run.ts';
import { refusal, sseEvents } from '../wire/http-events.ts';
import { defined, asFields, asNonEmptyText } from '../shared/read-fields.ts';

export interface FindReplayOptions extends AGUISourceOptions {
  now?: () => number;
}

/** When nobody reads any more, and whether that is a stop: see `askForRun`. */
type Leaving = { signal: AbortSignal | undefined; isStopped: () => boolean };

/** A run that is told from its beginning: what it is, and where its events come from. */
export type Replay = { run: RunInput; source: AgentSource };

/**
 * The answer that an agent of ours is writing in a thread, or has written a moment ago, from its beginning. Null: there is
 * none, or the agent is somebody else's and knows no such request. AG-UI has none for it.
 */
export async function findReplay(
  threadId: string,
  options: FindReplayOptions,
  { signal, isStopped }: Leaving,
): Promise<Replay | null> {
  // A socket has nowhere to ask.
  if (/^wss?:/.test(options.url)) return null;
  const query = { threadId, protocolVersion: declaredVersion, replay: 'true' };
  // Until the run is read the signal says when nobody waits any more; then its reader does, who also leaves at its end.
  const left = new AbortController();
  const leave = (): void => left.abort(signal?.reason);
  if (signal?.aborted) leave();
  signal?.addEventListener('abort', leave);
  const response = await askForRun(options, { method: 'GET' }, { threadId, query, leave: left.signal, isStopped });
  if (response.status >= 500 && response.status !== 501) throw await refusal(options, response);
  const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') === true;
  if (response.status !== 200 || response.body === null || !isStream) {
    await response.body?.cancel().catch(() => undefined);
    return null;
  }
  const events = sseEvents(response.body);
  const { value: first } = await events.next();
  const messageId = messageIdOf(first);
  const runId = asNonEmptyText(asFields(first).runId);
  if (messageId === undefined || runId === undefined) {
    await events.return();
    return null;
  }
  const { name = 'replay', now = Date.now, idleMs, onFrame, onLoss } = options;
  const begun = { runId, threadId, messageId, startedAt: now() };
  const run: RunInput = { ...begun, history: [], answers: [], tools: [], context: [] };
  const source: AgentSource = {
    name,
    pauses: 'replay',
    run: (asked, control) => {
      signal?.removeEventListener('abort', leave);
      control.signal.addEventListener('abort', leave, { once: true });
      const read = (over: AbortSignal): AsyncIterable<unknown> => {
        over.addEventListener('abort', leave, { once: true });
        return withFirst(first, events);
      };
      const codec = agUiCodec(asked, { origins: onFrame !== undefined, ...defined({ onLoss }) });
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
