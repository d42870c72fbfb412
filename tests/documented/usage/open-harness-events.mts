import assert from 'node:assert/strict';

import {
  createFlowState,
  createTransformState,
  decodeEvent,
  OpenHarnessChatTransport,
  transformEvent,
  type RuntimeCommand,
  type RuntimeEvent,
  type RuntimeLike,
} from '@intertie/open-harness';
import { readUIMessageStream, type UIMessage, type UIMessageChunk } from 'ai';

import { close, createRuntime, flow, registry } from './frame.mjs';

// 1. One event, without state.
const delta = { type: 'agent:text:delta', nodeId: 'a', runId: 'n1', content: 'Hello' } as const;
assert.deepEqual(
  transformEvent(delta).map(({ type }) => type),
  ['text-start', 'text-delta', 'text-end'],
);

// 2. All events of a run, with state: a stream that the AI SDK reads.
const runtime = createRuntime({ flow, registry });
const state = createTransformState({ sendStepMarkers: 'nodes' });
const chunks: UIMessageChunk[] = [];
const events: RuntimeEvent[] = [];
runtime.onEvent((event) => {
  events.push(event);
  chunks.push(...transformEvent(event, state));
});
const snapshot = await runtime.run({ message: 'Tea' });
chunks.push(...transformEvent({ type: 'settled', snapshot }, state));
assert.equal(chunks.at(-1)?.type, 'finish');
let message: UIMessage | undefined;
const stream = new ReadableStream<UIMessageChunk>({
  start(controller) {
    for (const chunk of chunks) controller.enqueue(chunk);
    controller.close();
  },
});
for await (const next of readUIMessageStream({ stream })) message = next;
const nodes = events.filter(({ type }) => type === 'node:start').length;
assert.equal(message?.parts.filter(({ type }) => type === 'step-start').length, nodes);

// 3. The same events as canonical events.
const run = {
  runId: 'r',
  threadId: 't',
  messageId: 'm',
  startedAt: 0,
  history: [],
  answers: [],
  tools: [],
  context: [],
};
const flowState = createFlowState(run);
const canonical = events.flatMap((event) => decodeEvent(event, flowState));
assert.ok(canonical.some(({ type }) => type === 'text-delta'));

// 4. A message to a running flow reaches the active node, or is an error.
const listeners = new Set<(event: RuntimeEvent) => void>();
const commands: RuntimeCommand[] = [];
const started: RuntimeLike = {
  run: () => Promise.reject(new Error('It is already running.')),
  onEvent: (listener) => {
    listeners.add(listener);
    return () => void listeners.delete(listener);
  },
  getSnapshot: () => ({ status: 'running' }),
  dispatch: (command) => void commands.push(command),
};
const emit = (event: RuntimeEvent): void => {
  for (const listener of listeners) listener(event);
};
const ask = async (...emitted: RuntimeEvent[]): Promise<string | undefined> => {
  const answer = await new OpenHarnessChatTransport(started).sendMessages({
    chatId: 'tea',
    messageId: undefined,
    trigger: 'submit-message',
    abortSignal: undefined,
    messages: [{ id: 'u', role: 'user', parts: [{ type: 'text', text: 'And milk?' }] }],
  });
  const types: string[] = [];
  const reading = (async () => {
    for await (const { type } of answer) types.push(type);
  })();
  while (listeners.size === 0) await new Promise((resolve) => setTimeout(resolve, 1));
  emitted.forEach(emit);
  await reading;
  return types.at(-1);
};
const complete = { type: 'flow:complete', flowName: 'tea', status: 'complete' } as const;
assert.equal(await ask(delta, complete), 'finish');
assert.deepEqual(commands, [{ type: 'send', message: 'And milk?', runId: 'n1' }]);
assert.equal(await ask(complete), 'error');

await close();
