import type { EndpointRoute, Protocol } from '@intertie/core';
import { getItemType, toRunIds } from '@intertie/core/internal';
import { uiMessageSource } from './chat/transport/ui-message-source.ts';
import { toUIMessages } from './messages/to-ui-messages.ts';
import { asFields } from './shared/read-fields.ts';
import { UIMessageChecker, type UIMessageCheckerOptions } from './ui-message-stream/check/ui-message-checker.ts';
import { uiMessageRules } from './ui-message-stream/check/ui-message-rules.ts';
import { isUIMessageChunk } from './ui-message-stream/chunk/validate-ui-message-chunk.ts';
import { createUIMessageDecoder } from './ui-message-stream/decode/decode-ui-message-stream.ts';
import { createUIMessageEncoder } from './ui-message-stream/encode/encode-ui-message-stream.ts';

/** Fields of full stream parts, which share many types with UI message chunks. */
const fullStreamFields = ['request', 'warnings', 'response', 'usage', 'totalUsage'];

function createChatRoutes(base: string, target: string): EndpointRoute[] {
  return [
    {
      method: 'POST',
      path: base,
      summary: `Sends a message to ${target} and streams the answer, for useChat.`,
      body: {
        type: 'object',
        required: ['id', 'messages'],
        properties: {
          id: { type: 'string', description: 'The thread.' },
          messages: {
            type: 'array',
            items: {
              type: 'object',
              required: ['id', 'role', 'parts'],
              properties: { id: { type: 'string' }, role: { type: 'string' }, parts: { type: 'array' } },
            },
          },
          trigger: { enum: ['submit-message', 'regenerate-message'] },
          messageId: { type: 'string' },
        },
      },
      answers: { 200: 'sse' },
    },
    {
      method: 'GET',
      path: `${base}/{thread}/stream`,
      summary: 'Resumes the stream of the live run; 204 if there is none.',
      query: { run: 'Run to resume.', after: 'Id of the last frame that was read.' },
      answers: { 200: 'sse', 204: 'nothing' },
    },
    {
      method: 'POST',
      path: `${base}/{thread}/stop`,
      summary: 'Stops the live run.',
      query: { run: 'Only this run.' },
      answers: { 200: 'json' },
    },
  ];
}

/** Creates the protocol for a reader of a version, which may already have the message. */
export function createUIMessageStreamProtocol(options: UIMessageCheckerOptions = {}): Protocol {
  const { version = 6 } = options;
  return {
    name: 'ui-message-stream',
    aliases: ['ui', 'usechat'],
    label: version === 7 ? 'UI message stream · ai 7' : 'UI message stream',
    title: 'an AI SDK UI message stream, as useChat reads it',
    framing: { mediaTypes: ['text/event-stream'], hasDone: true, header: 'x-vercel-ai-ui-message-stream' },
    rules: uiMessageRules,
    looksLike: (item) => isUIMessageChunk(item, 7) && !fullStreamFields.some((key) => key in asFields(item)),
    getKind: (item) => getItemType(item) || 'not a chunk',
    startsRun: (item) => getItemType(item) === 'start',
    readRunIds: (item) => toRunIds({ messageId: asFields(item).messageId }),
    checker: () => new UIMessageChecker(options),
    decoder: (run, onLoss) => createUIMessageDecoder(run, { onLoss }),
    encoder: (_run, onLoss, { includeInternal = false } = {}) =>
      createUIMessageEncoder({ version, baseline: 'restate', includeInternal, onLoss }),
    items: {
      families: {
        run: ['start', 'finish', 'abort', 'message-metadata'],
        agent: ['start-step', 'finish-step'],
        text: ['text-*'],
        reasoning: ['reasoning-*'],
        tool: ['tool-*'],
        people: ['tool-approval-*'],
        data: ['data-*', 'file', 'source-*'],
        notice: ['error', 'tool-input-error', 'tool-output-error'],
      },
      deltas: ['*-delta'],
    },
    messages: { format: 'ui', encode: (messages) => toUIMessages(messages) },
    variants: {
      option: 'ui-version',
      description: 'major version of ai that reads a UI message stream',
      names: ['6', '7'],
      create: (name) => createUIMessageStreamProtocol({ ...options, version: name === '7' ? 7 : 6 }),
    },
    examples: {
      convert: [['intertie convert --to ui-message-stream -o demo.tape.jsonl run.jsonl', 'A tape for useChat:']],
      replay: [
        [
          'intertie replay demo.tape.jsonl --as ui-message-stream --port 4000',
          'For useChat({ api: "http://127.0.0.1:4000/api/chat" }):',
        ],
      ],
    },
    client: {
      server: 'a chat route',
      matchesPath: (path) => path.includes('chat'),
      canCombine: true,
      createBody: ({ prompt, threadId, messageId }) => ({
        id: threadId,
        trigger: 'submit-message',
        messages: [{ id: messageId, role: 'user', parts: [{ type: 'text', text: prompt }] }],
      }),
      connect: ({ url, fetch, headers }) => uiMessageSource({ url, fetch, headers }),
    },
    replay: {
      path: '/api/chat',
      createHandler: async ({ source }) =>
        (await import('./chat/handler/create-chat-handler.ts')).createChatHandler(source),
    },
    endpoints: {
      routes: [
        ...createChatRoutes('/api/agents/{agent}/chat', 'an agent'),
        ...createChatRoutes('/api/chat', 'the default agent'),
      ],
      async createHandler({ fileUrl: blobUrl, ...handlerOptions }) {
        const { createChatHandler } = await import('./chat/handler/create-chat-handler.ts');
        return ({ request, agent, by }) =>
          createChatHandler(agent.agent, { ...handlerOptions, blobUrl, by: () => by })(request);
      },
    },
  };
}

/** Protocol of `useChat` in ai 6; ai 7 reads it too. */
export const uiMessageStream: Protocol = createUIMessageStreamProtocol();
