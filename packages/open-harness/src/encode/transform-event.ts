import { createUIMessageEncoder, type UIMessageChunk6 as UIMessageChunk } from '@intertie/ai-sdk';
import { compose, generateId, seal, type AgentEvent, type Codec, type RunInput } from '@intertie/core';
import { defined, isFields } from '@intertie/core/internal';
import { createOpenHarnessDecoder } from '../decode/decode-open-harness.ts';
import type { OpenHarnessDecoderOptions } from '../decode/decoder-options.ts';
import { createFlowChunks, type FlowChunkOptions } from './flow-chunks.ts';
import { createFlowFilter, type FlowDataOptions } from '../decode/flow-filter.ts';
import { isTerminalEvent, type OpenHarnessInput } from '../runtime/runtime-event.ts';

export interface TransformOptions extends OpenHarnessDecoderOptions, FlowDataOptions, FlowChunkOptions {
  /** Run that the events belong to. Default: a new one. */
  run?: RunInput;
  /** Shows thinking as `reasoning` parts. Default: true. */
  sendReasoning?: boolean;
}

/** Open parts, steps and ids of one message. `end` closes the message if the runtime stops without a terminal event. */
export type TransformState = Codec<OpenHarnessInput, UIMessageChunk>;

/** Creates the state of one message, for `transformEvent`. */
export function createTransformState(options: TransformOptions = {}): TransformState {
  const { run = newRun(), onLoss = () => undefined } = options;
  const decoder = compose(createOpenHarnessDecoder(run, options), createFlowFilter(options));
  return compose(compose(decoder, seal(run, onLoss)), chunkEncoder(options));
}

/**
 * Transforms one event of a runtime into chunks of a UI message stream. With a state, the chunks of all events form one valid
 * stream, from `start` to `finish`: feed `{ type: 'settled', snapshot }` when `run()` resolves, since a paused flow emits no
 * last event. Without a state, the event stands alone: its parts have new ids and are complete, and there is no `start`.
 */
export function transformEvent(event: OpenHarnessInput, state?: Pick<TransformState, 'feed'>): UIMessageChunk[] {
  return state === undefined ? transformAlone(event) : feedAll(state, [event]);
}

function feedAll(state: Pick<TransformState, 'feed'>, events: OpenHarnessInput[]): UIMessageChunk[] {
  const chunks: UIMessageChunk[] = [];
  for (const event of events) state.feed(event, (chunk) => void chunks.push(chunk));
  return chunks;
}

/** Chunks about the node around an event. A single event has them only if it is the start of the node. */
const nodeChunks: ReadonlySet<string> = new Set(['start-step', 'finish-step', 'data-agent', 'data-event']);

function transformAlone(event: OpenHarnessInput): UIMessageChunk[] {
  // No seal, which would frame the single event as a run.
  const codec = compose(createOpenHarnessDecoder(newRun()), chunkEncoder({}));
  const isLast = isFields(event) && isTerminalEvent(event);
  const chunks = feedAll(codec, isLast ? [event, { type: 'drained' }] : [event]);
  const isNodeStart = isFields(event) && event.type === 'node:start';
  const own = isNodeStart ? chunks : chunks.filter(({ type }) => !nodeChunks.has(type));
  const last = own.at(-1);
  if (last?.type === 'text-delta') own.push({ type: 'text-end', id: last.id });
  if (last?.type === 'reasoning-delta') own.push({ type: 'reasoning-end', id: last.id });
  return own;
}

function chunkEncoder(options: TransformOptions): Codec<AgentEvent, UIMessageChunk> {
  const { tools = [], sendReasoning, onLoss } = options;
  const encoder = createUIMessageEncoder({ staticTools: tools, ...defined({ sendReasoning, onLoss }) });
  // It removes chunks and adds steps, which both versions have.
  const steps = createFlowChunks(options) as unknown as Codec<UIMessageChunk, UIMessageChunk>;
  return compose(encoder, steps);
}

function newRun(): RunInput {
  const id = generateId();
  const empty = { history: [], answers: [], tools: [], context: [] };
  return { runId: id, threadId: id, messageId: id, startedAt: Date.now(), ...empty };
}
