import type { Protocol } from '@intertie/core';
import { getItemType, readItemTime, toRunIds } from '@intertie/core/internal';
import { createAGUIChecker } from './check/ag-ui-checker.ts';
import { aguiRules } from './check/ag-ui-rules.ts';
import { agUiSource } from './client/ag-ui-source.ts';
import { createAGUIDecoder } from './decode/decode-ag-ui.ts';
import { createAGUIEncoder } from './encode/encode-ag-ui.ts';
import { toAGUIMessages } from './encode/to-ag-ui-messages.ts';
import type { AGUIEvent } from './shared/ag-ui-event.ts';
import { asFields } from './shared/read-fields.ts';

const endpointPath = '/api/agents/{agent}/ag-ui';

/** AG-UI: its rules, how it is detected, checked, decoded and encoded, and how its agents are reached. */
export const agUi: Protocol<AGUIEvent> = {
  name: 'ag-ui',
  aliases: ['agui', 'copilotkit'],
  label: 'AG-UI 1.0',
  title: 'AG-UI events, as CopilotKit and HttpAgent read them',
  framing: { mediaTypes: ['text/event-stream', 'application/vnd.ag-ui.event+proto'] },
  rules: aguiRules,
  looksLike: (item) => /^[A-Z]+(?:_[A-Z]+)*$/.test(getItemType(item)),
  getKind: (item) => getItemType(item) || 'unknown',
  startsRun: (item) => getItemType(item) === 'RUN_STARTED',
  readRunIds: (item) => {
    const { type, runId, threadId, timestamp } = asFields(item);
    return type === 'RUN_STARTED' ? toRunIds({ runId, threadId, at: timestamp }) : {};
  },
  readTime: (item) => readItemTime(asFields(item).timestamp),
  checker: createAGUIChecker,
  decoder: (run, onLoss) => createAGUIDecoder(run, { onLoss }),
  encoder: (_run, onLoss, { includeInternal: sendInternal = false } = {}) =>
    createAGUIEncoder({ protocolVersion: '1.0', sendInternal, onLoss }),
  items: {
    families: {
      run: ['RUN_*', 'MESSAGES_SNAPSHOT'],
      agent: ['STEP_*', 'SUBAGENT_*'],
      text: ['TEXT_MESSAGE_*'],
      reasoning: ['REASONING_*', 'THINKING_*'],
      tool: ['TOOL_CALL_*'],
      data: ['STATE_*', 'ACTIVITY_*', 'RAW', 'CUSTOM'],
      notice: ['RUN_ERROR', 'SUBAGENT_ERROR'],
    },
    deltas: ['*_CONTENT', '*_ARGS', '*_CHUNK'],
  },
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
      return ({ request, agent, by }) => createAGUIHandler(agent.agent, { ...options, by })(request);
    },
  },
};
