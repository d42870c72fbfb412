import { describe, expect, test } from 'vitest';
import { chatMajors, shown } from '../test/chats.ts';
import { complete, says, scriptedSource } from '../test/scripted-source.ts';
import { SourceChatTransport } from './source-chat-transport.ts';

describe.each(chatMajors)('$name', ({ createChat }) => {
  test('a text', async () => {
    const source = scriptedSource((run) => [...says(run, 'text', 'Hel', 'lo'), complete]);
    const chat = createChat({ id: 'thread', transport: new SourceChatTransport(source) });
    await chat.sendMessage({ text: 'hi' });
    expect(chat.status).toBe('ready');
    expect(shown(chat.lastMessage)).toEqual([{ type: 'step-start' }, { type: 'text', text: 'Hello', state: 'done' }]);
    expect(source.runs[0]).toMatchObject({ threadId: 'thread', history: [{ role: 'user' }] });
    expect(chat.lastMessage?.id).toBe(source.runs[0]!.messageId);
  });
});
