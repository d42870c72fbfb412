import {
  compose,
  generateId,
  seal,
  sourceStream,
  type AgentEvent,
  type AgentSource,
  type Codec,
  type OnLoss,
  type ResumePoint,
  type RunControl,
  type RunInput,
} from '@intertie/core';
import { defined, omit, resumeReplay, type Topology } from '@intertie/core/internal';
import { createMAILDecoder, type MAILDecoderOptions } from '../decode/decode-mail.ts';
import { keepAliveFrame, type MAILFrame } from '../shared/mail-event.ts';
import { MAILServer } from '../client/mail-server.ts';
import { readSettings, type MAILModelSettings, type MAILProviderSettings } from '../shared/mail-settings.ts';
import type { MAILRequest } from '../client/mail-request.ts';
import { buildSourceRequest } from './build-source-request.ts';
import {
  createCheckpoint,
  createLostTaskFrame,
  readCheckpoint,
  toFreshCheckpoint,
  withCheckpoints,
  type MAILCheckpoint,
} from './mail-checkpoint.ts';
import { resumeTask } from './resume-task.ts';
import { sendRequest } from '../client/send-request.ts';
import { findLastKey, readTaskRecord } from '../client/task-record.ts';

export interface MAILSourceSettings
  extends
    Omit<MAILProviderSettings, 'includeAgentChatter' | 'swarms' | 'onEvent'>,
    Omit<MAILModelSettings, 'taskId' | 'resumeFrom' | 'bypassSupervisor' | 'breakpointTools'> {
  /** Name of the source. Default: the setting `swarm`, else `mail`. */
  name?: string;
  /** Called with every frame of the server, to record tapes. */
  onFrame?: (frame: MAILFrame, index: number) => void;
  onLoss?: OnLoss;
}

/**
 * Creates a source that runs a MAIL swarm. Every agent has its own parts, messages between agents are internal, and breakpoint
 * tools pause the run. The task is the token that continues a thread. A run whose process has died continues from the server's
 * record of its task.
 */
export function mailSource(settings: MAILSourceSettings = {}): AgentSource {
  readSettings(settings);
  const server = new MAILServer(settings);
  return {
    name: getName(settings),
    pauses: 'token',
    run: (run, control) => runSwarm(server, settings, run, control),
    resume: (run, from, control) => runSwarm(server, settings, run, control, from),
    describe: () => readTopology(server),
  };
}

function getName({ name, swarm }: MAILSourceSettings): string {
  return name ?? swarm ?? 'mail';
}

/** Runs a request, or continues one of another process after the committed events of `from`. */
function runSwarm(
  server: MAILServer,
  settings: MAILSourceSettings,
  run: RunInput,
  control: RunControl,
  from?: ResumePoint,
): ReadableStream<AgentEvent> {
  const { onLoss = () => undefined, onFrame, generateId: newId = generateId } = settings;
  const { signal } = control;
  const token = readCheckpoint(from?.token);
  const planned = buildSourceRequest(run, { newId, canAnswer: server.token !== undefined, onLoss });
  const log = from && { log: from.events };
  if (planned.waitingFor) {
    // Some answers are missing. The swarm accepts them only together, so the run pauses again without a request.
    const waitingFor = planned.waitingFor.map((toolCallId) => ({ type: 'tool' as const, toolCallId }));
    const { sourceState: resume } = run;
    const paused: AgentEvent = {
      type: 'run-end',
      outcome: 'paused',
      waitingFor,
      ...(resume !== undefined && { resume }),
    };
    const sealed = seal(run, onLoss, { trusted: true, ...log });
    return sourceStream(new ReadableStream<AgentEvent>({ start: (input) => input.enqueue(paused) }), sealed, {
      signal,
    });
  }
  const { request, fresh } = token ? withTaskIds(planned, token) : planned;
  const checkpoint = token ?? createCheckpoint(run, request, fresh);
  const pending = [checkpoint];
  const decode = (input: RunInput, report: OnLoss): Codec<MAILFrame, AgentEvent> =>
    withCheckpoints(createMAILDecoder(input, toDecoderOptions(settings, request, report)), checkpoint, pending);
  const codec = from
    ? resumeReplay(run, from, { decode, onLoss, trusted: true })
    : compose(decode(run, onLoss), seal(run, onLoss, { trusted: true }));
  const open = async (stop: AbortSignal): Promise<AsyncIterable<MAILFrame>> => {
    const resumed = from && (await resumeTask({ server, settings, from, checkpoint, signal: stop }));
    return resumed ?? start(stop);
  };
  const start = async function* (stop: AbortSignal): AsyncGenerator<MAILFrame, void> {
    if (checkpoint.isPlanned) {
      // Only a recovery needs the key, so the request is sent without it if the record cannot be read.
      const record = await readTaskRecord(server, checkpoint.taskId, stop).catch(() => undefined);
      const requestAfter = record && findLastKey(record.events);
      pending.push({ ...omit(checkpoint, 'isPlanned'), ...defined({ requestAfter }) });
      // Without a frame, the decoder would not emit the checkpoint.
      yield keepAliveFrame;
    }
    // The task must be in the log before it starts. Otherwise no process could find it after a crash.
    await control.barrier();
    yield* streamFrames(server, settings, { request, fresh, checkpoint }, stop);
  };
  return sourceStream(open, codec, { signal, remote: getName(settings), ...(onFrame && { onFrame }) });
}

function toDecoderOptions(
  { includeEvents = false, toolCalls = 'actions' }: MAILSourceSettings,
  { taskId, resumeFrom }: MAILRequest,
  onLoss: OnLoss,
): MAILDecoderOptions {
  return { taskId, includeEvents, answersBreakpoint: resumeFrom === 'breakpoint_tool_call', toolCalls, onLoss };
}

/** The tasks of the run have the ids of its checkpoint. */
function withTaskIds(
  { request, fresh }: { request: MAILRequest; fresh: MAILRequest },
  { taskId, lostTaskId, freshTaskId = taskId }: MAILCheckpoint,
): { request: MAILRequest; fresh: MAILRequest } {
  return { request: { ...request, taskId: lostTaskId ?? taskId }, fresh: { ...fresh, taskId: freshTaskId } };
}

async function* streamFrames(
  server: MAILServer,
  settings: MAILSourceSettings,
  { request, fresh, checkpoint }: { request: MAILRequest; fresh: MAILRequest; checkpoint: MAILCheckpoint },
  signal: AbortSignal,
): AsyncGenerator<MAILFrame, void> {
  const { onTask } = settings;
  const { lostTaskId, frames } = await sendRequest(request, () => fresh, { server, settings, signal, onTask });
  if (lostTaskId !== undefined) yield createLostTaskFrame(toFreshCheckpoint(checkpoint));
  yield* frames;
}

async function readTopology(server: MAILServer): Promise<Topology> {
  const { agents, entrypoint } = await server.readAgents();
  return {
    ...(entrypoint !== undefined && { entry: entrypoint }),
    agents: agents.map(({ name }) => ({ name, kind: 'agent' as const })),
    edges: agents.flatMap(({ name, targets }) => targets.map((to) => ({ from: name, to }))),
  };
}
