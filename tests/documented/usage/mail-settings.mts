import assert from 'node:assert/strict';

import { createMAIL, mail, mailMetadata, type MAILResponseBody } from '@intertie/mail';
import { generateText, stepCountIs, streamText, tool } from 'ai';
import { z } from 'zod';

import { close } from './frame.mjs';

// 1. Messages between agents are separate parts, with a label and a line break.
const chatty = createMAIL({ includeAgentChatter: true });
const shown = streamText({ model: chatty('demo'), prompt: 'Where does the time go in our build?' });
const lines = (await shown.text).split('\n');
assert.ok(lines.length > 3);
for (const line of lines) assert.match(line, /^\[(supervisor|researcher|writer)\]: /);
const speakers = (await shown.content).flatMap((part) => (part.type === 'text' ? [part.providerMetadata?.mail] : []));
assert.deepEqual(
  speakers.map((speaker) => speaker?.isAgentChatter),
  [...speakers.slice(1).map(() => true), false],
);
assert.ok(speakers.every((speaker) => typeof speaker?.currentAgent === 'string'));

// 2. An unknown tool causes a warning; a tool in the settings does not.
const ask_user = tool({ inputSchema: z.object({ question: z.string() }), execute: async () => 'comfort' });
const plan = { prompt: 'Plan my trip', tools: { ask_user }, stopWhen: stepCountIs(5) };
const warned = await generateText({ model: mail('demo'), ...plan });
assert.equal(warned.steps[0]?.warnings?.length, 1);
const named = await generateText({ model: mail('demo', { breakpointTools: ['ask_user'] }), ...plan });
assert.deepEqual(named.steps[0]?.warnings, []);

// 3. An invalid setting is refused before anything is sent.
const invalid = { providerOptions: { mail: { resumeFrom: 'somewhere' } } };
await assert.rejects(generateText({ model: mail('demo'), prompt: 'x', ...invalid }), {
  name: 'AI_InvalidArgumentError',
});

// 4. A paused task is answered later, with only its token.
const paused = await generateText({ model: mail('demo'), prompt: 'Plan my trip' });
const { resumeToken, taskId } = mailMetadata(paused.providerMetadata);
const answered = await generateText({ model: mail('demo', { taskId: resumeToken }), prompt: 'money' });
assert.match(answered.text, /Go by bus/);
assert.equal(mailMetadata(answered.providerMetadata).taskId, taskId);
const again = await generateText({ model: mail('demo'), prompt: 'Plan my trip' });
const token = mailMetadata(again.providerMetadata).resumeToken;
assert.match((await generateText({ model: mail('demo', { resumeFrom: token }), prompt: 'money' })).text, /Go by bus/);

// 5. Every tool call, including MAIL's own tools.
const calls = await generateText({ model: mail('demo', { toolCalls: 'all' }), prompt: 'Look around' });
const names = new Set(calls.toolCalls.map(({ toolName }) => toolName));
for (const name of ['send_request', 'search', 'send_response', 'task_complete']) assert.ok(names.has(name), name);

// 6. The raw events of the server.
const prompt = [{ role: 'user' as const, content: [{ type: 'text' as const, text: 'hello' }] }];
const { request, response } = await mail('demo').doGenerate({ prompt });
assert.match(JSON.stringify(request?.body), /"subject":"New Message"/);
const body = response?.body as MAILResponseBody;
assert.match(body.response ?? '', /^Hello!/);
assert.equal(body.events.at(-1)?.event, 'task_complete');

await close();
