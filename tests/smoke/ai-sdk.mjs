// @ts-check
// Runs a chat of the installed `ai` against our handlers: in this process, over a route, and with a server whose stream breaks.
// Returns plain JSON without ids, so that versions can be compared.
import {
  createChatHandler,
  fromUIMessages,
  IntertieChatTransport,
  modelSource,
  SourceChatTransport,
  toAiSdkMessages,
} from '@intertie/ai-sdk';
import {
  AbstractChat,
  DefaultChatTransport,
  generateText,
  jsonSchema,
  lastAssistantMessageIsCompleteWithApprovalResponses,
  tool,
} from 'ai';
import { MockLanguageModelV3 } from 'ai/test';

/** @import { ChatInit, ChatState, ChatTransport, UIMessage } from 'ai' */

/** @implements {ChatState<UIMessage>} */
class State {
  /** @type {'ready' | 'submitted' | 'streaming' | 'error'} */
  status = 'ready';
  /** @type {Error | undefined} */
  error = undefined;
  /** @type {UIMessage[]} */
  messages = [];
  /** @param {UIMessage} message */
  pushMessage = (message) => void (this.messages = [...this.messages, message]);
  popMessage = () => void (this.messages = this.messages.slice(0, -1));
  /** @param {number} index @param {UIMessage} message */
  replaceMessage = (index, message) => void (this.messages = this.messages.with(index, structuredClone(message)));
  /** @template T @param {T} value @returns {T} */
  snapshot = (value) => structuredClone(value);
}

/** @extends {AbstractChat<UIMessage>} */
class Chat extends AbstractChat {
  /** @param {ChatInit<UIMessage>} init */
  constructor(init) {
    super({ ...init, state: new State() });
  }
}

const count = { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0, text: 1, reasoning: 0 };
const usage = { inputTokens: count, outputTokens: count };

/** Emits reasoning, requests an approval, and then emits text. */
function model() {
  let calls = 0;
  return new MockLanguageModelV3({
    doStream: async () => {
      calls += 1;
      /** @type {import('@ai-sdk/provider').LanguageModelV3StreamPart[]} */
      const parts =
        calls === 1
          ? [
              { type: 'reasoning-start', id: '0' },
              { type: 'reasoning-delta', id: '0', delta: 'Hm.' },
              { type: 'reasoning-end', id: '0' },
              { type: 'tool-call', toolCallId: 'c', toolName: 'rm', input: '{"n":1}' },
              { type: 'finish', finishReason: { unified: 'tool-calls', raw: undefined }, usage },
            ]
          : [
              { type: 'text-start', id: '0' },
              { type: 'text-delta', id: '0', delta: 'Do' },
              { type: 'text-delta', id: '0', delta: 'ne.' },
              { type: 'text-end', id: '0' },
              { type: 'finish', finishReason: { unified: 'stop', raw: undefined }, usage },
            ];
      return {
        stream: new ReadableStream({
          start(controller) {
            for (const part of parts) controller.enqueue(part);
            controller.close();
          },
        }),
      };
    },
  });
}

function source() {
  const inputSchema = jsonSchema({ type: 'object', properties: { n: { type: 'number' } } });
  return modelSource(model(), {
    name: 'smoke',
    tools: { rm: tool({ inputSchema, needsApproval: true, execute: async () => 'gone' }) },
  });
}

/** @param {UIMessage | undefined} message */
const shown = (message) =>
  message?.parts.map((part) => {
    const fields = /** @type {{ type: string, text?: string, state?: string, output?: unknown }} */ (part);
    return [fields.type, fields.text ?? null, fields.state ?? null, fields.output ?? null];
  });

/** @param {ChatTransport<UIMessage>} transport */
async function converse(transport) {
  const sendAutomaticallyWhen = lastAssistantMessageIsCompleteWithApprovalResponses;
  const chat = new Chat({ id: 'thread', transport, sendAutomaticallyWhen });
  await chat.sendMessage({ text: 'go' });
  const asked = shown(chat.lastMessage);
  for (const part of chat.lastMessage?.parts ?? []) {
    const { approval } = /** @type {{ approval?: { id: string } }} */ (part);
    if (approval) await chat.addToolApprovalResponse({ id: approval.id, approved: true });
  }
  while (chat.status !== 'ready' && chat.status !== 'error') await new Promise((resolve) => setTimeout(resolve, 1));
  const { messages, error } = chat;
  const history = toAiSdkMessages(fromUIMessages(messages, { threadId: 'thread' }), { provider: 'smoke' });
  return {
    asked,
    answered: shown(chat.lastMessage),
    messages: messages.length,
    error: error?.message ?? null,
    roles: history.map(({ role }) => role),
    history,
  };
}

/** @param {(request: Request) => Promise<Response>} handler @returns {typeof fetch} */
const fetchFrom = (handler) => (url, init) => handler(new Request(url, init));

/** Splits a stream into two responses. */
function brokenServer() {
  const frames = [
    { type: 'start', messageId: 'm' },
    { type: 'text-start', id: 't' },
    { type: 'text-delta', id: 't', delta: 'Hel' },
    { type: 'text-delta', id: 't', delta: 'lo' },
    { type: 'text-end', id: 't' },
    { type: 'finish' },
  ].map((chunk, index) => `id: e~1.${index}.0\ndata: ${JSON.stringify(chunk)}\n\n`);
  return fetchFrom(async (request) => {
    const after = new URL(request.url).searchParams.get('after');
    const body = after === 'e~1.2.0' ? frames.slice(3) : frames.slice(0, 3);
    return new Response(body.join(''), { headers: { 'x-intertie-run': 'r' } });
  });
}

export async function smokeAiSdk() {
  const { history, ...direct } = await converse(new SourceChatTransport(source()));
  const api = 'http://localhost/api/chat';
  const routed = await converse(new DefaultChatTransport({ api, fetch: fetchFrom(createChatHandler(source())) }));
  const chat = new Chat({ transport: new IntertieChatTransport({ api, fetch: brokenServer() }) });
  await chat.sendMessage({ text: 'hi' });
  // This version accepts our history.
  const content = /** @type {const} */ ([{ type: 'text', text: 'ok' }]);
  const finishReason = /** @type {const} */ ({ unified: 'stop', raw: undefined });
  const next = new MockLanguageModelV3({ doGenerate: { content: [...content], finishReason, usage, warnings: [] } });
  const { text } = await generateText({ model: next, messages: history });
  return { direct, routed: { ...routed, history: null }, resumed: shown(chat.lastMessage), text };
}
