import type { EndpointRoute, Protocol } from '@intertie/core';
import { uiMessageSource } from './chat/transport/ui-message-source.ts';
import { toUIMessages } from './messages/to-ui-messages.ts';
import { createUIMessageStreamFormat } from './ui-message-stream-format.ts';
import type { UIMessageCheckerOptions } from './ui-message-stream/check/ui-message-checker.ts';
import { createUIMessageDecoder } from './ui-message-stream/decode/decode-ui-message-stream.ts';

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
  const format = createUIMessageStreamFormat(options);
  return {
    ...format,
    decoder: (run, onLoss) => createUIMessageDecoder(run, { onLoss }),
    messages: { format: 'ui', encode: (messages) => toUIMessages(messages) },
    variants: {
      ...format.variants!,
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
