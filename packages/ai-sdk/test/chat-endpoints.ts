import { Agent } from '@intertie/agent';
import type { AgentEvent, AgentSource, CanonicalMessage, RunInput } from '@intertie/core';
import { MessageList } from '@intertie/core';
import type { ChatTransport, UIMessage } from 'ai';
import { createChatHandler } from '../src/chat/handler/create-chat-handler.ts';
import { IntertieChatTransport } from '../src/chat/transport/intertie-chat-transport.ts';
import { SourceChatTransport } from '../src/chat/transport/source-chat-transport.ts';
import type { ChatMajor } from './chats.ts';
import { serve } from './serve.ts';
import { StubServer } from './stub-server.ts';

/** A transport together with the server behind it, if any. */
export interface ChatEndpoint {
  name: string;
  /** Whether the server is ours and not the stub. */
  isOurs: boolean;
  /** Whether runs are durable: the store has the history, and continued messages contain their answers. */
  isDurable?: true;
  /** Whether texts of foreign errors stay on the server. */
  hidesErrors?: true;
  /** Whether stopping the chat stops the run. */
  stops: boolean;
  open(source: AgentSource, major: ChatMajor): Promise<{ transport: ChatTransport<UIMessage>; close(): Promise<void> }>;
}

export const chatEndpoints: readonly ChatEndpoint[] = [
  {
    name: 'SourceChatTransport',
    isOurs: true,
    stops: true,
    open: async (source) => ({ transport: new SourceChatTransport(source), close: async () => undefined }),
  },
  {
    name: 'createChatHandler(source) over HTTP, with DefaultChatTransport',
    isOurs: true,
    hidesErrors: true,
    stops: true,
    async open(source, { ai }) {
      const { url, close } = await serve(createChatHandler(source));
      return { transport: new ai.DefaultChatTransport({ api: `${url}/api/chat` }), close };
    },
  },
  {
    name: 'StubServer over HTTP, with IntertieChatTransport',
    isOurs: false,
    stops: true,
    async open(source) {
      const { url, close } = await serve(new StubServer(source).handle);
      return { transport: new IntertieChatTransport({ api: `${url}/chat` }), close };
    },
  },
  {
    name: 'createChatHandler(agent) over HTTP, with DefaultChatTransport',
    isOurs: true,
    hidesErrors: true,
    isDurable: true,
    stops: false,
    async open(source, { ai }) {
      const { url, close } = await serveAgent(source);
      return { transport: new ai.DefaultChatTransport({ api: `${url}/api/chat` }), close };
    },
  },
  {
    name: 'createChatHandler(agent) over HTTP, with IntertieChatTransport',
    isOurs: true,
    hidesErrors: true,
    isDurable: true,
    stops: true,
    async open(source) {
      const { url, close } = await serveAgent(source);
      return { transport: new IntertieChatTransport({ api: `${url}/api/chat` }), close };
    },
  },
];

async function serveAgent(source: AgentSource): Promise<{ url: string; close(): Promise<void> }> {
  const agent = new Agent({ source });
  const { url, close } = await serve(createChatHandler(agent));
  return {
    url,
    async close() {
      await close();
      await agent.close();
    },
  };
}

/** Source that records its runs and events. */
export interface RecordedSource extends AgentSource {
  readonly runs: RunInput[];
  readonly events: AgentEvent[];
  /** Messages built from the recorded events. */
  messages(): CanonicalMessage[];
}

/** Wraps a source and records its runs and events. */
export function recordSource(source: AgentSource): RecordedSource {
  const runs: RunInput[] = [];
  const events: AgentEvent[] = [];
  return {
    name: source.name,
    pauses: source.pauses,
    runs,
    events,
    messages() {
      const list = new MessageList();
      for (const event of events) list.feed(event);
      return list.messages;
    },
    run(run, control) {
      runs.push(run);
      const reader = source.run(run, control).getReader();
      return new ReadableStream(
        {
          async pull(controller) {
            const { done, value } = await reader.read();
            if (done) return controller.close();
            events.push(value);
            controller.enqueue(value);
          },
          cancel: (reason) => reader.cancel(reason),
        },
        { highWaterMark: 0 },
      );
    },
  };
}
