import assert from 'node:assert/strict';

import { Agent } from '@intertie/agent';
import { createStore } from '@intertie/postgres';
import { conversationMessage } from '@intertie/postgres/drizzle';
import { eq } from 'drizzle-orm';
import { drizzle } from 'drizzle-orm/node-postgres';

import { close, model, tools } from './frame.mjs';

const store = await createStore(process.env.DATABASE_URL ?? './.intertie');
const agent = new Agent({ model, store, instructions: 'Be brief.', tools });

const answer = await agent.stream({ threadId: 'trip', message: 'Where were we?' });
let text = '';
for await (const event of answer.events) {
  if (event.type === 'text-delta') text += event.delta;
}
assert.equal(text, 'In Lisbon.');

// Queries of the user.
const db = drizzle(process.env.DATABASE_URL!);
const rows = await db
  .select()
  .from(conversationMessage)
  .where(eq(conversationMessage.threadId, await store.threadUuid('trip')));
assert.deepEqual(new Set(rows.map(({ role }) => role)), new Set(['user', 'assistant']));

await db.$client.end();
await agent.close();
await store.close();
await close();
