import { generateId, type AgentEvent, type Json, type OnLoss, toJson } from '@intertie/core';
import type { Op } from '@intertie/core/internal';
import { verbatimMeta } from '../shared/custom-name.ts';
import { WriteQueue } from './write-queue.ts';

/**
 * The tool call during which an event is written. Pass the second argument of a tool's `execute`: the event is then placed
 * between the call and its result, however fast or slow the client reads.
 */
export type ToolCallContext = { readonly toolCallId?: string };

/**
 * Adds events to one run while it is streamed, in the order in which they are written. Each method returns whether the event
 * will be sent. An event written after the end of the run is not sent, and reported as a loss of kind `late`.
 */
export interface AGUIWriter {
  /** Sends `CUSTOM`, which is not stored. The name is sent unchanged; use a prefix, since plain names are reserved. */
  custom(name: string, value: unknown, during?: ToolCallContext): boolean;
  /** Sends `ACTIVITY_SNAPSHOT`, stored in the thread. The id must be unique there; the same id replaces the activity. */
  activity(id: string, type: string, content: { [key: string]: unknown }, during?: ToolCallContext): boolean;
  /** Sends `ACTIVITY_DELTA` with an RFC 6902 patch. */
  patchActivity(id: string, patch: readonly Op[], during?: ToolCallContext): boolean;
  /** Sends `STATE_SNAPSHOT` with the complete state of the thread. */
  state(state: unknown, during?: ToolCallContext): boolean;
  /** Sends `STATE_DELTA` with an RFC 6902 patch. */
  patchState(patch: readonly Op[], during?: ToolCallContext): boolean;
  /** Sends `RAW`: an event of another system, unchanged. `source` names the system. */
  raw(event: unknown, source: string, during?: ToolCallContext): boolean;
}

const queues = new WeakMap<AGUIWriter, WriteQueue>();

/**
 * Creates a writer for one run. Pass it as the option `writer` of the function that streams the run, and to the tools that
 * write. Events written before the run starts are sent first.
 */
export function createAGUIWriter(): AGUIWriter {
  const queue = new WriteQueue();
  const put = (event: AgentEvent, during: ToolCallContext | undefined): boolean => queue.put(event, during?.toolCallId);
  const writer: AGUIWriter = {
    custom: (name, value, during) =>
      put(
        { type: 'data', id: generateId(), name, data: copyJson(value), transient: true, ...verbatimMeta(name) },
        during,
      ),
    activity: (id, type, content, during) => put({ type: 'data', id, name: type, data: copyJson(content) }, during),
    patchActivity: (id, patch, during) => put({ type: 'data-delta', id, patch: copyJson(patch) as Op[] }, during),
    state: (state, during) => put({ type: 'state-snapshot', state: copyJson(state) }, during),
    patchState: (patch, during) => put({ type: 'state-delta', patch: copyJson(patch) as Op[] }, during),
    raw: (event, source, during) => put({ type: 'raw', dialect: source, value: copyJson(event) }, during),
  };
  queues.set(writer, queue);
  return writer;
}

/** Binds a writer to its run. Returns an error if the writer is foreign or already bound. */
export function bindWriter(writer: AGUIWriter, onLoss: OnLoss): WriteQueue | Error {
  const queue = queues.get(writer);
  if (queue === undefined) return toAdapterError('The writer was not created by createAGUIWriter().');
  if (!queue.bind(onLoss)) {
    return toAdapterError('The writer already belongs to another run. Call createAGUIWriter() for each run.');
  }
  return queue;
}

function toAdapterError(message: string): Error {
  return Object.assign(new TypeError(message), { code: 'ADAPTER_ERROR' });
}

/** Copies the current value, because the caller may mutate it later. */
function copyJson(value: unknown): Json {
  return structuredClone(toJson(value));
}
