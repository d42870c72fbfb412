import { describe, expect, test } from 'vitest';
import { chatMajors, shown } from '../test/chats.ts';
import { complete, says, scriptedSource } from '../test/scripted-source.ts';
import { StubServer } from '../test/stub-server.ts';
import { IntertieChatTransport, type IntertieChatTransportOptions } from './intertie-chat-transport.ts';

const hello = [{ type: 'step-start' }, { type: 'text', text: 'Hello, world', state: 'done' }];
const helloSource = () => scriptedSource((run) => [...says(run, 'text', 'Hel', 'lo', ', ', 'world'), complete]);
let chats = 0;

/** Without waiting between the attempts, and each test in a thread of its own. */
function setup(server: StubServer, options: IntertieChatTransportOptions<6> = {}) {
  const fetch = async (url: unknown, init?: RequestInit): Promise<Response> =>
    server.handle(new Request(new URL(url as string, 'http://localhost'), init));
  chats += 1;
  const create = (): IntertieChatTransport =>
    new IntertieChatTransport({ api: '/chat', fetch, reconnectDelayMs: () => 0, ...options });
  return { id: `thread-${chats}`, transport: create(), create };
}

describe.each(chatMajors)('$name', ({ createChat, createHookChat }) => {
  test('a stream that broke off goes on behind the last chunk, wherever that was', async () => {
    const server = new StubServer(helloSource());
    const { transport, id } = setup(server);
    const whole = createChat({ id, transport });
    await whole.sendMessage({ text: 'hi' });
    expect(shown(whole.lastMessage)).toEqual(hello);
    const frames = 11;
    for (const how of ['error', 'end', 'torn'] as const) {
      for (let after = 1; after < frames; after += 1) {
        server.cuts = [{ after, how }];
        const cut = setup(server);
        const chat = createHookChat(cut);
        await chat.sendMessage({ text: 'hi' });
        expect(chat.error).toBeUndefined();
        expect(shown(chat.lastMessage)).toEqual(hello);
        expect(chat.messages).toHaveLength(2);
      }
    }
  });
});
