import { getRequestListener } from '@hono/node-server';
import { Agent, createRunHost } from '@intertie/agent';
import { createChatHandler, toUIMessages } from '@intertie/ai-sdk';
import { toPublicMessage } from '@intertie/core/http';
import { createStore } from '@intertie/postgres';
import { tool } from 'ai';
import express from 'express';
import { demoModel } from 'intertie';
import { z } from 'zod';

const sendEmail = tool({
  description: 'Sends an email.',
  inputSchema: z.object({ to: z.string(), subject: z.string(), body: z.string() }),
  needsApproval: true,
  execute: async ({ to }) => ({ sent: true, to }),
});

const store = await createStore(process.env.DATABASE_URL ?? './.intertie');
const host = createRunHost(store, {
  onRunError: ({ scope, threadId, runId }, { code, message }) =>
    console.error('run failed', { scope, threadId, runId, code, message }),
  onError: (error) => console.warn('will be tried again', error),
  observer: { takenOver: (run) => console.warn('run of another process taken over', run) },
});
const model = demoModel(); // a script; yours: anthropic('claude-sonnet-4-5'), or any other AI SDK model
const agent = new Agent({ name: 'helper', model, tools: { sendEmail }, recover: 'step', store, host });
await agent.open();

// Your sign-in. The id of the user is the scope of all data.
const users = new Map([
  ['Bearer ada-token', 'ada'],
  ['Bearer bob-token', 'bob'],
]);

const app = express();

app.use('/api', (request, response, next) => {
  const origin = request.get('origin');
  const user = users.get(request.get('authorization') ?? '');
  // With cookies, a page of another site could send messages as the user.
  if (origin !== undefined && !origin.endsWith(`//${request.get('host')}`))
    response.status(403).json({ error: { code: 'origin-not-allowed', message: `Not for pages of ${origin}.` } });
  else if (user === undefined)
    response.status(401).json({ error: { code: 'unauthorized', message: 'Sign in first.' } });
  else {
    response.locals.user = user;
    next();
  }
});

// Sends, resumes and stops. Before any body parser, because the handler reads the body itself.
app.use('/api/chat', (request, response) => {
  const handler = createChatHandler(agent.forScope(response.locals.user));
  return getRequestListener(handler)(request, response);
});

app.get('/api/threads/:threadId/messages', async (request, response) => {
  const { messages } = await agent.forScope(response.locals.user).history({ threadId: request.params.threadId });
  // A message that is being written comes from its stream.
  const complete = messages.filter(({ status }) => status !== 'streaming');
  response.json({ messages: toUIMessages(complete.map((message) => toPublicMessage(message, {}))) });
});

const server = app.listen(Number(process.env.PORT ?? 3000), '127.0.0.1', () => {
  console.log(`http://127.0.0.1:${Object(server.address()).port}/api/chat`);
});

async function shutDown() {
  // A page that is reloaded during the drain period still gets its history and its stream.
  await agent.close({ drainMs: 10_000 });
  server.close();
  await store.close();
}
process.once('SIGTERM', shutDown);
process.once('SIGINT', shutDown);
