import {
  sourceStream,
  type AgentEvent,
  type Codec,
  type Json,
  type OnLoss,
  type ResumePoint,
  type RunInput,
} from '@intertie/core';
import { hasSourceOutput, resumeReplay, retryRequest } from '@intertie/core/internal';
import { createAGUIDecoder } from '../decode/decode-ag-ui.ts';
import { declaredVersion } from '../shared/ag-ui-version.ts';
import { asFields, asNonEmptyText, defined } from '../shared/read-fields.ts';
import { sseEvents } from '../wire/http-events.ts';
import type { AGUIRequestOptions } from './ag-ui-source.ts';
import { readDurableRunId, requestRun, type RequestRunOptions } from './request-run.ts';

/** Progress of a request to an agent, for its checkpoints. `isDurable`: the agent keeps the run, under its own `runId`. */
export class RequestProgress {
  #token: { runId: string; isDurable: boolean };
  #isNew = true;

  constructor(runId: string) {
    this.#token = { runId, isDurable: false };
  }

  readResponse(response: Response): void {
    const runId = readDurableRunId(response);
    if (runId === undefined) return;
    this.#token = { runId, isDurable: true };
    this.#isNew = true;
  }

  takeCheckpoint(): Json | undefined {
    const token = this.#isNew ? this.#token : undefined;
    this.#isNew = false;
    return token;
  }
}

/** Emits a checkpoint before the request, and one with the agent's own id of a durable run before its first event. */
export function withCheckpoints(
  decoder: Codec<unknown, AgentEvent>,
  progress: RequestProgress,
): Codec<unknown, AgentEvent> {
  const writeCheckpoint = (emit: (event: AgentEvent) => void): void => {
    const token = progress.takeCheckpoint();
    if (token !== undefined) emit({ type: 'checkpoint', token });
  };
  return {
    flush(emit) {
      writeCheckpoint(emit);
      decoder.flush?.(emit);
    },
    feed(item, emit) {
      writeCheckpoint(emit);
      decoder.feed(item, emit);
    },
    end: (end, emit) => decoder.end(end, emit),
  };
}

export interface ResumeRunOptions extends Omit<RequestRunOptions, 'threadId' | 'query' | 'leave'> {
  run: RunInput;
  from: ResumePoint;
  signal: AbortSignal;
  /** Ids of the messages that the agent was sent. */
  sent: readonly string[];
  flushMs: number;
  /** Sends the request of the run, if the agent has not received it. */
  send: (progress: RequestProgress, leave: AbortSignal) => AsyncIterable<unknown>;
}

/**
 * Continues a run of a process that has died: reads the run of the agent again from its start and emits what the log lacks. Only
 * Intertie agents keep their runs. AG-UI has no request for it, so the runs of other agents end as `lost`.
 */
export function resumeRun(options: AGUIRequestOptions, resume: ResumeRunOptions): ReadableStream<AgentEvent> {
  const { name = new URL(options.url).host, onLoss = () => undefined, onFrame, idleMs } = options;
  const { run, from, signal, sent, flushMs } = resume;
  const progress = new RequestProgress(run.runId);
  const decode = (input: RunInput, report: OnLoss): Codec<unknown, AgentEvent> =>
    withCheckpoints(createAGUIDecoder(input, { sent, origins: onFrame !== undefined, onLoss: report }), progress);
  const codec = resumeReplay(run, from, { decode, onLoss });
  const open = async (leave: AbortSignal): Promise<AsyncIterable<unknown>> =>
    (await readRunAgain(options, resume, leave)) ?? resume.send(progress, leave);
  return sourceStream(open, codec, { signal, flushMs, remote: name, ...defined({ idleMs, onFrame }) });
}

/** Requests the run from its start. Returns undefined if the agent has not received it. Throws a `lost` error if it has no runs. */
async function readRunAgain(
  options: AGUIRequestOptions,
  { run: { runId: ownId, threadId }, from, isStopped }: ResumeRunOptions,
  leave: AbortSignal,
): Promise<AsyncIterable<unknown> | undefined> {
  const { runId, isDurable } = asFields(from.token);
  const id = asNonEmptyText(runId);
  const hasOutput = hasSourceOutput(from);
  if (/^wss?:/.test(options.url)) throw toLostError();
  if (id === undefined && !hasOutput) return undefined;
  if (id === undefined) throw toLostError();
  const query = { threadId, runId: id, protocolVersion: declaredVersion, replay: 'true' };
  const send = (): Promise<Response> => requestRun(options, { method: 'GET' }, { threadId, query, leave, isStopped });
  const response = await retryRequest(send, leave).catch((error: unknown) => {
    throw leave.aborted ? error : toLostError(error);
  });
  if (response.ok && response.body !== null) return withOwnIds(sseEvents(response.body), { runId: ownId, threadId });
  const { error } = asFields(await response.json().catch(() => undefined));
  const isUnknownRun = response.status === 404 && asFields(error).code === 'not-found';
  if (isUnknownRun && isDurable !== true && !hasOutput) return undefined;
  throw toLostError();
}

/** The agent may know the run under another id. Its events had our ids when they were streamed first. */
async function* withOwnIds(events: AsyncIterable<unknown>, ids: { runId: string; threadId: string }): AsyncGenerator {
  for await (const event of events)
    yield asFields(event).type === 'RUN_STARTED' ? { ...asFields(event), ...ids } : event;
}

/** Users see the text of `lost` errors, so it contains neither the URL of the agent nor instructions for developers. */
function toLostError(cause?: unknown): Error {
  const message =
    'The process that executed the run is gone, and the agent does not let another process join its run. The output so far is kept. ' +
    'Send the message again.';
  return Object.assign(new Error(message), { code: 'lost', cause });
}
