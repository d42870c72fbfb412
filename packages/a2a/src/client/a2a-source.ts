import {
  compose,
  seal,
  sourceStream,
  type AgentEvent,
  type AgentSource,
  type OnLoss,
  type ResumePoint,
  type RunControl,
  type RunInput,
  type SourceStreamOptions,
} from '@intertie/core';
import { defined, isHandOver } from '@intertie/core/internal';
import { createA2ADecoder } from '../decode/decode-a2a.ts';
import { readToken } from '../decode/known-parts.ts';
import { createConnection, type A2AConnectionOptions } from './a2a-connection.ts';
import { readTaskItems, type AnsweredTask } from './read-task-items.ts';
import { listAwaitedIds, toSendRequest } from './to-send-request.ts';

export interface A2ASourceOptions extends A2AConnectionOptions {
  /** Name of the source. Default: the host of the URL. */
  name?: string;
  /** Maximum time without an item, in milliseconds. Default: no limit. */
  idleMs?: number;
  /** Whether stopping a run cancels its task. Default: true. */
  stopOnAbort?: boolean;
  /** Called with every item of the agent before it is decoded. */
  onFrame?: SourceStreamOptions['onFrame'];
  onLoss?: OnLoss;
}

/**
 * Creates a source from an A2A 1.0 agent, by the URL of the agent or of its card. A task that needs input pauses the run, and the
 * answers continue the task. A run whose process has died subscribes to its task again.
 */
export function a2aSource(options: A2ASourceOptions): AgentSource {
  const { url, name = new URL(url).host, idleMs, onFrame, onLoss = () => undefined, stopOnAbort = true } = options;
  const connect = createConnection(options);

  const stream = (run: RunInput, { signal }: RunControl, from?: ResumePoint): ReadableStream<AgentEvent> => {
    const decoder = createA2ADecoder(run, { onLoss, ...defined({ from }) });
    const codec = compose(decoder, seal(run, onLoss, from ? { log: from.events } : {}));
    const isStopped = (): boolean => stopOnAbort && signal.aborted && !isHandOver(signal);
    const open = (leave: AbortSignal): AsyncIterable<unknown> =>
      readTaskItems({
        connect,
        leave,
        isStopped,
        isResumed: from !== undefined,
        taskId: from && readToken(from.token).taskId,
        answered: findAnsweredTask(run),
        createRequest: (hasExtension) => toSendRequest(run, { hasExtension, onLoss }),
      });
    return sourceStream(open, codec, { signal, remote: name, ...defined({ idleMs, onFrame }) });
  };

  return {
    name,
    pauses: 'token',
    run: (run, control) => stream(run, control),
    resume: (run, from, control) => stream(run, control, from),
    // Without its task, a run can continue only if the agent recognizes a repeated request.
    canResume: (token) => readToken(token).taskId !== undefined,
    async describe() {
      const { card } = await connect();
      return {
        entry: card.name,
        agents: [{ name: card.name, kind: 'agent', description: card.description }],
        edges: [],
      };
    },
  };
}

/** Returns the task whose questions the run answers. */
function findAnsweredTask({ message, sourceState }: RunInput): AnsweredTask | undefined {
  const { taskId: id } = readToken(sourceState);
  if (message === undefined || id === undefined) return undefined;
  return { id, waitingFor: new Set(listAwaitedIds(message)) };
}
