import assert from 'node:assert/strict';

import { createMAIL, mail, mailEvents, mailMetadata } from '@intertie/mail';
import { stepCountIs, streamText, tool } from 'ai';
import { z } from 'zod';

import { close, prompt } from './frame.mjs';

// 1. A swarm is a model; its actions are in the metadata.
const first = streamText({ model: mail('research-swarm'), prompt: 'Where does the time go in our build?' });
for await (const chunk of first.textStream) process.stdout.write(chunk);
const taskId = (await first.providerMetadata)?.mail?.taskId;
const { agentTrace } = mailMetadata(await first.providerMetadata);
assert.equal(typeof taskId, 'string');
assert.ok(agentTrace.length > 5);

// 2. Continues the same task by id.
const second = streamText({
  model: mail('research-swarm', { taskId, resumeFrom: 'user_response' }),
  prompt: 'And on CI?',
});
assert.match(await second.text, /And on CI\?/);
assert.equal(mailMetadata(await second.providerMetadata).taskId, taskId);

// 3. Configured; several servers under one provider; one agent addressed directly; the object form.
const company = createMAIL({
  baseUrl: 'https://mail.example.com',
  authToken: process.env.MAIL_API_KEY,
  includeAgentChatter: true,
  swarms: { support: 'https://support.example.com' },
});
const late = streamText({
  model: company('support', { entrypoint: 'supervisor', bypassSupervisor: true }),
  prompt: 'Order 12345 is late',
});
assert.match(await late.text, /Order 12345 is late/);
const hello = streamText({
  model: mail({ baseUrl: 'http://localhost:8000', swarm: 'research-swarm' }),
  prompt: 'hello',
});
assert.match(await hello.text, /Hello!/);

// 4. The swarm asks and the program answers: a breakpoint tool is a client tool.
const trip = streamText({
  model: mail('research-swarm'),
  prompt: 'Plan my trip',
  stopWhen: stepCountIs(5),
  tools: {
    ask_user: tool({
      inputSchema: z.object({ question: z.string() }),
      execute: async ({ question }) => prompt(question),
    }),
  },
});
assert.match(await trip.text, /comfort/);

// 5. The events of every agent, in addition to the text.
const model = mail('research-swarm');
const run = streamText({ model, prompt: 'Look around' });
const described: string[] = [];
for await (const event of mailEvents(model)) {
  if (event.type === 'mail-agent-event') described.push(`[${event.agent}] ${event.description}`);
}
assert.ok(described.some((line) => line.startsWith('[supervisor] ')));
assert.ok(await run.text);

await close();
