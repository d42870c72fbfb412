import type { AgentEvent, AgentSource, CanonicalMessage, RunInput } from '@intertie/core';
import { MessageList } from '@intertie/core';
import type { ChatTransport, UIMessage } from 'ai';
import { createChatHandler } from '../src/create-chat-handler.ts';
import { IntertieChatTransport } from '../src/intertie-chat-transport.ts';
import { SourceChatTransport } from '../src/source-chat-transport.ts';
import type { ChatMajor } from './chats.ts';
import { serve } from './serve.ts';
import { StubServer } from './stub-server.ts';

/** A way from a chat to a source. */
export interface Door {
  name: string;
  /** Ours, and not the stub's. */
  isOurs: boolean;
  open(source: AgentSource, major: ChatMajor): Promise<{ transport: ChatTransport<UIMessage>; close(): Promise<void> }>;
}

export const doors: readonly Door[] = [
  {
    name: 'SourceChatTransport',
    isOurs: true,
    open: async (source) => ({ transport: new SourceChatTransport(source), close: async () => undefined }),
  },
  {
    name: 'createChatHandler, over HTTP, from DefaultChatTransport',
    isOurs: true,
    async open(source, { ai }) {
      const { url, close } = await serve(createChatHandler(source));
      return { transport: new ai.DefaultChatTransport({ api: `${url}/api/chat` }), close };
    },
  },
  {
    name: 'a server, over HTTP, from IntertieChatTransport',
    isOurs: false,
    async open(source) {
      const { url, close } = await serve(new StubServer(source).handle);
      return { transport: new IntertieChatTransport({ api: `${url}/chat` }), close };
    },
  },
];

/** A source that remembers what it was asked for and what it said. */
export interface RecordedSource extends AgentSource {
  readonly runs: RunInput[];
  readonly events: AgentEvent[];
  /** The messages that a store would have. */
  messages(): CanonicalMessage[];
}

export function recorded(source: AgentSource): RecordedSource {
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
