import { generateId, type AgentEvent, type Json, type OnLoss } from '@intertie/core';
import { toJson, type Op } from '@intertie/core/internal';
import { verbatimMeta } from '../shared/custom-name.ts';
import { WriteQueue } from './write-queue.ts';

/**
 * The call during which something is written. What `execute` of a tool is given says it, and can be passed as it is: then
 * the event comes after its call and before its result, however fast or slow the client reads.
 */
export type ToolCallContext = { readonly toolCallId?: string };

/**
 * Adds events to one run while it is told, in the order in which they are written. Each method says whether the event will
 * be told: what comes after the run's end is not, and is entered in the ledger as late.
 */
export interface AGUIWriter {
  /** `CUSTOM`: shown, and not kept. The name goes out as it is; give it a prefix, since names without one are the protocol's. */
  custom(name: string, value: unknown, during?: ToolCallContext): boolean;
  /** `ACTIVITY_SNAPSHOT`: kept in the thread under this id, which is its own there. The same id again replaces it. */
  activity(id: string, type: string, content: { [key: string]: unknown }, during?: ToolCallContext): boolean;
  /** `ACTIVITY_DELTA`, by RFC 6902. */
  patchActivity(id: string, patch: readonly Op[], during?: ToolCallContext): boolean;
  /** `STATE_SNAPSHOT`: the whole state of the thread. */
  state(state: unknown, during?: ToolCallContext): boolean;
  /** `STATE_DELTA`, by RFC 6902. */
  patchState(patch: readonly Op[], during?: ToolCallContext): boolean;
  /** `RAW`: what somebody else has said, as it was. `source` says who. */
  raw(event: unknown, source: string, during?: ToolCallContext): boolean;
}

const queues = new WeakMap<AGUIWriter, WriteQueue>();

/**
 * A writer for one run: pass it as the option `writer` of what tells the run, and to the tools that write. What is written
 * before the run begins is told first.
 */
export function createAGUIWriter(): AGUIWriter {
  const queue = new WriteQueue();
  const put = (event: AgentEvent, during: ToolCallContext | undefined): boolean => queue.put(event, during?.toolCallId);
  const writer: AGUIWriter = {
    custom: (name, value, during) =>
      put(
        { type: 'data', id: generateId(), name, data: copied(value), transient: true, ...verbatimMeta(name) },
        during,
      ),
    activity: (id, type, content, during) => put({ type: 'data', id, name: type, data: copied(content) }, during),
    patchActivity: (id, patch, during) => put({ type: 'data-delta', id, patch: copied(patch) as Op[] }, during),
    state: (state, during) => put({ type: 'state-snapshot', state: copied(state) }, during),
    patchState: (patch, during) => put({ type: 'state-delta', patch: copied(patch) as Op[] }, during),
    raw: (event, source, during) => put({ type: 'raw', dialect: source, value: copied(event) }, during),
  };
  queues.set(writer, queue);
  return writer;
}

/** Binds a writer to its run. */
export function takeWriter(writer: AGUIWriter, onLoss: OnLoss): WriteQueue | Error {
  const queue = queues.get(writer);
  if (queue === undefined) return problem('The writer is none of createAGUIWriter().');
  if (!queue.take(onLoss)) {
    return problem('The writer belongs to another run already. Make one with createAGUIWriter() for each run.');
  }
  return queue;
}

function problem(message: string): Error {
  return Object.assign(new TypeError(message), { code: 'ADAPTER_ERROR' });
}

/** As it is now: whoever wrote it may go on working on it. */
function copied(value: unknown): Json {
  return structuredClone(toJson(value));
}
