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
import type { MAILTurn } from '../client/mail-turn.ts';
import { sourceTurn } from './source-turn.ts';
import { startTurn } from '../client/start-turn.ts';

export interface MAILSourceSettings
  extends
    Omit<MAILProviderSettings, 'includeAgentChatter' | 'swarms' | 'onEvent'>,
    Omit<MAILModelSettings, 'taskId' | 'resumeFrom' | 'bypassSupervisor' | 'breakpointTools'> {
  /** The source's name. Default: the swarm's setting, else `mail`. */
  name?: string;
  /** Is given every frame of the server, for tapes. */
  onFrame?: (frame: MAILFrame, index: number) => void;
  onLoss?: OnLoss;
}

/**
 * A MAIL swarm as a source: every agent with parts of its own, what they say to each other marked as internal, breakpoint
 * tools as a paused run. The task is the token by which a thread goes on.
 */
export function mailSource(settings: MAILSourceSettings = {}): AgentSource {
  readSettings(settings);
  const server = new MAILServer(settings);
  return {
    name: settings.name ?? settings.swarm ?? 'mail',
    pauses: 'token',
    run: (run, control) => runSwarm(server, settings, run, control),
    describe: () => topology(server),
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
  const planned = sourceTurn(run, { newId, canAnswer: server.token !== undefined, onLoss });
  if (planned.waitingFor) {
    // Some of the answers are still to come. They are recorded, and the swarm is told when it is all of them.
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
  const { turn, fresh } = planned;
  const answersBreakpoint = turn.resumeFrom === 'breakpoint_tool_call';
  const decoder = createMAILDecoder(run, { taskId: turn.taskId, includeEvents, answersBreakpoint, toolCalls, onLoss });
  const open = (stop: AbortSignal): AsyncIterable<MAILFrame> => turnOf(server, settings, turn, fresh, stop);
  return sourceStream(open, compose(decoder, sealed), { signal, ...(onFrame && { onFrame }) });
}

async function* turnOf(
  server: MAILServer,
  settings: MAILSourceSettings,
  turn: MAILTurn,
  fresh: MAILTurn,
  signal: AbortSignal,
): AsyncGenerator<MAILFrame, void> {
  const { onTask } = settings;
  const { lost, frames } = await startTurn(turn, () => fresh, { server, settings, signal, onTask });
  if (lost !== undefined) {
    const description = `The server has lost the task ${lost}. A new one was started and told what was said.`;
    yield { event: warningEvent, data: { description, task_id: fresh.taskId } };
  }
  yield* frames;
}

async function topology(server: MAILServer): Promise<Topology> {
  const { agents, entrypoint } = await server.agents();
  return {
    ...(entrypoint !== undefined && { entry: entrypoint }),
    agents: agents.map(({ name }) => ({ name, kind: 'agent' as const })),
    edges: agents.flatMap(({ name, targets }) => targets.map((to) => ({ from: name, to }))),
  };
}
