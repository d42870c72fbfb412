// The adapter: its sequence of events, streamed arguments, and the types of `@ag-ui/core`.
import assert from 'node:assert/strict';

import type { BaseEvent } from '@ag-ui/core';
import { AgentsToAGUIAdapter } from '@intertie/ag-ui';
import { stepCountIs, streamText } from 'ai';

import { close, model, tools } from './frame.mjs';

const stream = streamText({ model, prompt: 'Where were we?', tools, stopWhen: stepCountIs(5) });
const events: AsyncGenerator<BaseEvent> = new AgentsToAGUIAdapter().adaptStreamToAGUI(stream, 'thread-1', 'run-1');

const order: string[] = [];
for await (const event of events) {
  const name = typeof event.stepName === 'string' ? `${event.type} ${event.stepName}` : event.type;
  if (order.at(-1) !== name) order.push(name);
}
assert.deepEqual(order, [
  'RUN_STARTED',
  'STEP_STARTED Generating Response',
  'STEP_FINISHED Generating Response',
  'STEP_STARTED Executing Tools',
  'TOOL_CALL_CHUNK',
  'STEP_FINISHED Executing Tools',
  'TOOL_CALL_RESULT',
  'STEP_STARTED Generating Response',
  'TEXT_MESSAGE_CHUNK',
  'STEP_FINISHED Generating Response',
  'RUN_FINISHED',
]);

await close();
