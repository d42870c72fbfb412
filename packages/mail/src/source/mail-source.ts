import {
  compose,
  generateId,
  seal,
  sourceStream,
  type AgentEvent,
  type AgentSource,
  type OnLoss,
  type RunControl,
  type RunInput,
} from '@intertie/core';
import type { Topology } from '@intertie/core/internal';
import { createMAILDecoder } from '../decode/decode-mail.ts';
import { warningEvent, type MAILFrame } from '../shared/mail-event.ts';
import { MAILServer } from '../client/mail-server.ts';
import { readSettings, type MAILModelSettings, type MAILProviderSettings } from '../shared/mail-settings.ts';
import type { MAILRequest } from '../client/mail-request.ts';
import { buildSourceRequest } from './build-source-request.ts';
import { sendRequest } from '../client/send-request.ts';

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
 * tools pause the run. The task is the token that continues a thread.
 */
export function mailSource(settings: MAILSourceSettings = {}): AgentSource {
  readSettings(settings);
  const server = new MAILServer(settings);
  return {
    name: settings.name ?? settings.swarm ?? 'mail',
    pauses: 'token',
    run: (run, control) => runSwarm(server, settings, run, control),
    describe: () => readTopology(server),
  };
}

function runSwarm(
  server: MAILServer,
  settings: MAILSourceSettings,
  run: RunInput,
  { signal }: RunControl,
): ReadableStream<AgentEvent> {
  const { onLoss = () => undefined, onFrame, generateId: newId = generateId, includeEvents = false } = settings;
  const { toolCalls = 'actions' } = settings;
  const sealed = seal(run, onLoss, { trusted: true });
  const planned = buildSourceRequest(run, { newId, canAnswer: server.token !== undefined, onLoss });
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
    return sourceStream(new ReadableStream<AgentEvent>({ start: (input) => input.enqueue(paused) }), sealed, {
      signal,
    });
  }
  const { request, fresh } = planned;
  const answersBreakpoint = request.resumeFrom === 'breakpoint_tool_call';
  const decoder = createMAILDecoder(run, {
    taskId: request.taskId,
    includeEvents,
    answersBreakpoint,
    toolCalls,
    onLoss,
  });
  const open = (stop: AbortSignal): AsyncIterable<MAILFrame> => streamFrames(server, settings, request, fresh, stop);
  return sourceStream(open, compose(decoder, sealed), { signal, ...(onFrame && { onFrame }) });
}

async function* streamFrames(
  server: MAILServer,
  settings: MAILSourceSettings,
  request: MAILRequest,
  fresh: MAILRequest,
  signal: AbortSignal,
): AsyncGenerator<MAILFrame, void> {
  const { onTask } = settings;
  const { lostTaskId, frames } = await sendRequest(request, () => fresh, { server, settings, signal, onTask });
  if (lostTaskId !== undefined) {
    const description = `The server has lost the task ${lostTaskId}. A new task was started with the transcript.`;
    yield { event: warningEvent, data: { description, task_id: fresh.taskId } };
  }
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
