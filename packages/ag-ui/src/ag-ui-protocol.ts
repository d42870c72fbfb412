import type { Protocol } from '@intertie/core';
import { agUiFormat } from './ag-ui-format.ts';
import { agUiSource } from './client/ag-ui-source.ts';
import { createAGUIDecoder } from './decode/decode-ag-ui.ts';
import { toAGUIMessages } from './encode/to-ag-ui-messages.ts';
import type { AGUIEvent } from './shared/ag-ui-event.ts';

const endpointPath = '/api/agents/{agent}/ag-ui';

/** AG-UI: its format, how it is decoded, how its agents are reached, and how agents are served to its clients. */
export const agUi: Protocol<AGUIEvent> = {
  ...agUiFormat,
  decoder: (run, onLoss) => createAGUIDecoder(run, { onLoss }),
  messages: {
    format: 'ag-ui',
    encode: (messages) => messages.flatMap((message) => toAGUIMessages(message)),
  },
  examples: {
    chat: [
      ['intertie chat https://example.com/agent --as ag-ui -H "authorization: Bearer …"', 'A remote AG-UI agent:'],
    ],
    convert: [['intertie convert --to ag-ui run.sse', 'A recorded stream for an AG-UI client:']],
    replay: [['intertie replay run.sse --as ag-ui --speed 4', 'For an AG-UI client, four times as fast:']],
  },
  client: {
    server: 'an AG-UI agent',
    matchesPath: (path) => path.includes('ag-ui'),
    canCombine: true,
    createBody: ({ prompt, threadId, runId, messageId }) => ({
      threadId,
      runId,
      tools: [],
      context: [],
      state: {},
      forwardedProps: {},
      messages: [{ id: messageId, role: 'user', content: prompt }],
    }),
    connect: ({ url, fetch, headers }) => agUiSource({ url, fetch, headers }),
    /** Recognizes an agent by its refusal of an empty request: every valid request would start a run. */
    async probe({ url, fetch, headers }) {
      const sent = { 'content-type': 'application/json', accept: 'text/event-stream', ...headers };
      const response = await fetch(url, { method: 'POST', headers: sent, body: '{}' });
      const { status } = response;
      const type = response.headers.get('content-type') ?? '';
      await response.body?.cancel();
      if (!type.includes('event-stream') && status !== 400 && status !== 422) return undefined;
      return { isFine: true, found: `accepts POST like an AG-UI agent (${status})`, isGuess: true };
    },
  },
  replay: {
    path: '/api/ag-ui',
    createHandler: async ({ source }) => (await import('./server/create-ag-ui-handler.ts')).createAGUIHandler(source),
  },
  endpoints: {
    routes: [
      {
        method: 'POST',
        path: endpointPath,
        summary: 'Runs the agent and streams AG-UI events, for HttpAgent.',
        body: {
          type: 'object',
          required: ['threadId', 'runId', 'messages', 'tools', 'context'],
          properties: {
            threadId: { type: 'string' },
            runId: { type: 'string' },
            messages: {
              type: 'array',
              items: {
                type: 'object',
                required: ['id', 'role'],
                properties: { id: { type: 'string' }, role: { type: 'string' } },
              },
            },
            tools: { type: 'array' },
            context: { type: 'array' },
            state: {},
          },
        },
        answers: { 200: 'sse' },
      },
      {
        method: 'GET',
        path: endpointPath,
        summary: 'Joins the run of a thread.',
        query: { threadId: 'The thread.' },
        answers: { 200: 'sse', 204: 'nothing' },
      },
      {
        method: 'DELETE',
        path: endpointPath,
        summary: 'Stops the run of a thread.',
        query: { threadId: 'The thread.', runId: 'Only this run.' },
        answers: { 200: 'json' },
      },
    ],
    async createHandler(options) {
      const { createAGUIHandler } = await import('./server/create-ag-ui-handler.ts');
      return ({ request, agent: { agent, interrupts = 'outcome' }, by }) =>
        createAGUIHandler(agent, { ...options, interrupts, by })(request);
    },
  },
};
