import type { AgentSource } from '@intertie/core';
import type { ChatTransport, UIMessage } from 'ai';
import type { ChatTransport as ChatTransport7, UIMessage as UIMessage7 } from 'ai-7';
import { expectTypeOf, test } from 'vitest';
import { IntertieChatTransport } from './intertie-chat-transport.ts';
import { SourceChatTransport } from './source-chat-transport.ts';

declare const source: AgentSource;

test('implements ChatTransport of both majors', () => {
  expectTypeOf(new SourceChatTransport(source)).toExtend<ChatTransport<UIMessage>>();
  expectTypeOf(new SourceChatTransport(source)).toExtend<ChatTransport7<UIMessage7>>();
  expectTypeOf(new IntertieChatTransport()).toExtend<ChatTransport<UIMessage>>();
  expectTypeOf(new IntertieChatTransport()).toExtend<ChatTransport7<UIMessage7>>();
});

test('rejects a transport for version 7 where version 6 is expected', () => {
  expectTypeOf(new SourceChatTransport(source, { version: 7 })).toExtend<ChatTransport7<UIMessage7>>();
  expectTypeOf(new SourceChatTransport(source, { version: 7 })).not.toExtend<ChatTransport<UIMessage>>();
});
