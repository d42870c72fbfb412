import { Chat as Chat3 } from '@ai-sdk/react';
import { Chat as Chat4 } from '@ai-sdk/react-4';
import * as ai6 from 'ai';
import * as ai7 from 'ai-7';

type ChatInit = ai6.ChatInit<ai6.UIMessage>;
type AnyChat = ai6.AbstractChat<ai6.UIMessage>;

/** The real chat of each major, typed as version 6: the used API is the same. */
export interface ChatMajor {
  name: string;
  major: 6 | 7;
  ai: typeof ai6;
  /** Creates a chat like `useChat({ chat })`, with the transport unchanged. */
  createChat(init: ChatInit): AnyChat;
  /** Creates a chat like `useChat({ transport })`, whose hook wraps the transport. The hook of 3 hides additional members. */
  createHookChat(init: ChatInit): AnyChat;
}

const create6 = (init: ChatInit): AnyChat => new Chat3(init as never) as unknown as AnyChat;
const create7 = (init: ChatInit): AnyChat => new Chat4(init as never) as unknown as AnyChat;

/** Wraps the transport like the hook of `@ai-sdk/react` 3. */
function wrap3({ transport, ...init }: ChatInit): ChatInit {
  if (transport === undefined) return init;
  return {
    ...init,
    transport: {
      sendMessages: (options) => transport.sendMessages(options),
      reconnectToStream: (options) => transport.reconnectToStream(options),
    },
  };
}

/** Wraps the transport like the hook of `@ai-sdk/react` 4. */
function wrap4({ transport, ...init }: ChatInit): ChatInit {
  if (transport === undefined) return init;
  return {
    ...init,
    transport: {
      get resumeStreamIsReplay(): boolean | undefined {
        return transport.resumeStreamIsReplay;
      },
      sendMessages: (options) => transport.sendMessages(options),
      reconnectToStream: (options) => transport.reconnectToStream(options),
    },
  };
}

export const chatMajors: readonly ChatMajor[] = [
  { name: '@ai-sdk/react 3', major: 6, ai: ai6, createChat: create6, createHookChat: (init) => create6(wrap3(init)) },
  {
    name: '@ai-sdk/react 4',
    major: 7,
    ai: ai7 as unknown as typeof ai6,
    createChat: create7,
    createHookChat: (init) => create7(wrap4(init)),
  },
];

type Part = { readonly [key: string]: unknown };

/** The parts of a message as a page shows them, without provider metadata. */
export function shown(message: ai6.UIMessage | undefined): Part[] {
  return (message?.parts ?? []).map((part) => {
    const { providerMetadata: _, callProviderMetadata: __, resultProviderMetadata: ___, ...rest } = part as Part;
    // Chats keep the ids of streamed reasoning parts only.
    const isStreamId = (key: string): boolean => key === 'id' && rest.type === 'reasoning';
    return Object.fromEntries(Object.entries(rest).filter(([key, value]) => value !== undefined && !isStreamId(key)));
  });
}

/** Waits until the chat is idle. */
export async function settled(chat: AnyChat): Promise<void> {
  for (let idle = 0; idle < 3;) {
    await new Promise((resolve) => setTimeout(resolve, 5));
    idle = chat.status === 'ready' || chat.status === 'error' ? idle + 1 : 0;
  }
}
