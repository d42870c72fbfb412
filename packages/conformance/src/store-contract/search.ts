import type { MessageInput } from '@intertie/core/store';
import { describe, expect, it } from 'vitest';

import { storeError, type Contract } from './contract.ts';
import { content, createdAt, message } from './samples.ts';

function text(body: string, at = 0): Pick<MessageInput, 'content' | 'createdAt'> {
  return { content: content({ type: 'text', text: body }), createdAt: new Date(createdAt.getTime() + at) };
}

export function searchTests(contract: Contract): void {
  describe('search', () => {
    it('finds messages by the beginnings of words, newest first, with the title of the thread', async () => {
      const store = await contract.open();
      await store.saveThread({ thread: { id: 't1', title: 'Travel' } });
      await store.saveMessages({
        messages: [
          message('m1', { threadId: 't1', ...text('The night TRAIN to Berlin leaves at 21:30.') }),
          message('m2', { threadId: 't1', role: 'assistant', ...text('See docs/architecture.md, or train_plan.', 10) }),
        ],
      });
      await store.saveMessages({ messages: [message('m3', { threadId: 't2', ...text('A strain of wheat.', 20) })] });
      const find = async (search: string, limit?: number): Promise<string[]> =>
        (await store.searchMessages({ search, ...(limit !== undefined && { limit }) })).map(
          ({ messageId }) => messageId,
        );
      expect(await find('train')).toEqual(['m2', 'm1']);
      expect(await find('train', 1)).toEqual(['m2']);
      expect(await find('Tra ber')).toEqual(['m1']);
      expect(await find('architecture')).toEqual(['m2']);
      expect(await find('md')).toEqual(['m2']);
      expect(await find('21:30')).toEqual(['m1']);
      expect(await find('rain')).toEqual([]);
      expect(await find("'train' & !berlin | x:*")).toEqual([]);
      expect(await find('  …?! ')).toEqual([]);
      expect(await find('')).toEqual([]);
      expect(await store.searchMessages({ search: 'berlin' })).toEqual([
        {
          threadId: 't1',
          messageId: 'm1',
          role: 'user',
          createdAt,
          text: 'The night TRAIN to Berlin leaves at 21:30.',
          title: 'Travel',
        },
      ]);
      await expect(store.searchMessages({ search: 'a', limit: 0 })).rejects.toMatchObject(storeError('invalid'));
    });

    it('searches text only, not tool calls and field names', async () => {
      const store = await contract.open();
      const call = { type: 'tool-invocation' as const, toolCallId: 'c1', toolName: 'lookup', state: 'result' as const };
      const parts = content({ ...call, args: { city: 'Lisbon' }, result: 'Oslo' }, { type: 'text', text: 'Done.' });
      await store.saveMessages({ messages: [message('m1', { role: 'assistant', content: parts })] });
      for (const search of ['lisbon', 'oslo', 'lookup', 'text', 'parts']) {
        expect(await store.searchMessages({ search })).toEqual([]);
      }
      expect(await store.searchMessages({ search: 'done' })).toMatchObject([{ messageId: 'm1', text: 'Done.' }]);
    });

    it('searches text with characters that a database cannot store as text', async () => {
      const store = await contract.open();
      const body = content({ type: 'text', text: 'a\0b Munich\uD800 and \\u0000 more' });
      await store.saveMessages({ messages: [message('m1', { content: body })] });
      expect(await store.searchMessages({ search: 'munich more' })).toMatchObject([{ messageId: 'm1' }]);
    });

    it('finds no deleted messages, and none of hidden threads and other scopes', async () => {
      const store = await contract.open();
      await store.saveMessages({ messages: [message('m1'), message('m2')] });
      await store.deleteMessage({ threadId: 'thread_1', messageId: 'm2' });
      await store.saveMessages({ messages: [message('m3', { threadId: 'secret' })] });
      await store.saveThread({ thread: { id: 'secret', hidden: true } });
      await store.forScope('other').saveMessages({ messages: [message('m4')] });
      expect(await store.searchMessages({ search: 'I am' })).toMatchObject([{ messageId: 'm1' }]);
    });
  });
}
