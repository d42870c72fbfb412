import assert from 'node:assert/strict';

import { createMessageListState, flushToCanonical, toAiSdkMessages, updateFromStreamPart } from '@intertie/ai-sdk';
import { createInMemoryStore } from '@intertie/core';
import { stepCountIs, streamText } from 'ai';

import { close, model, tools } from './frame.mjs';

const threadId = 'trip';
const store = createInMemoryStore();
const parts = [{ type: 'text' as const, text: 'Where were we?' }];
const asked = { id: 'u1', threadId, role: 'user' as const, type: 'text' as const, createdAt: new Date() };
await store.saveMessages({ messages: [{ ...asked, content: { format: 2, parts } }] });

// A custom loop that reads from the store and writes to it.
const stopWhen = stepCountIs(5);
const result = streamText({
  model,
  tools,
  stopWhen,
  messages: toAiSdkMessages(await store.listMessages({ threadId })),
});
const state = createMessageListState({ threadId });
const ids = new Set<string>();
for await (const part of result.fullStream) {
  updateFromStreamPart(part, state);
  const message = flushToCanonical(state); // null, or the message so far, always with the same id
  if (message) await store.saveMessages({ messages: [message] });
  if (message) ids.add(message.id);
}

const stored = await store.listMessages({ threadId });
assert.equal(ids.size, 1);
assert.deepEqual(
  stored.map(({ role, status }) => [role, status]),
  [
    ['user', 'complete'],
    ['assistant', 'complete'],
  ],
);

await close();
