import type { CanonicalMessage, Json, MessagePart } from '@intertie/core';
import { describe, expect, it } from 'vitest';

import { storeError, type Contract } from './contract.ts';
import { content, createdAt, listBranchIds, message, paused, queue, start } from './samples.ts';

const threadId = 'thread_1';

function circle(): object {
  const value: { self?: object } = {};
  value.self = value;
  return value;
}

export function messageTests(contract: Contract): void {
  describe('saving messages', () => {
    it('returns empty results for an unknown thread', async () => {
      const store = await contract.open();
      expect(await store.listMessages({ threadId })).toEqual([]);
      expect(await store.getMessage({ threadId, messageId: 'm1' })).toBeNull();
      expect(await store.listSiblings({ threadId, messageId: 'm1' })).toEqual([]);
      expect(await store.listChanges({ threadId, since: 0 })).toEqual([]);
      expect(await store.getThreadById({ threadId })).toBeNull();
      expect(await store.getVersion({ threadId })).toBe(0);
    });

    it('creates the thread, preserves the order, and links each message to the previous one', async () => {
      const store = await contract.open();
      const saved = await store.saveMessages({
        messages: [message('m1', { resourceId: 'ada' }), message('m2', { role: 'assistant' })],
      });
      const listed = await store.listMessages({ threadId });
      expect(listed).toEqual([
        { ...message('m1', { resourceId: 'ada' }), status: 'complete' },
        { ...message('m2', { role: 'assistant' }), status: 'complete', parentId: 'm1' },
      ]);
      expect(saved).toEqual({ messages: listed, version: await store.getVersion({ threadId }) });
      expect(await store.getThreadById({ threadId })).toMatchObject({ id: threadId, resourceId: 'ada', headId: 'm2' });
      await store.saveMessages({ messages: [message('m3')] });
      expect(await store.getMessage({ threadId, messageId: 'm3' })).toMatchObject({ parentId: 'm2' });
    });

    it('orders messages as in the call, regardless of their timestamps', async () => {
      const store = await contract.open();
      await store.saveMessages({ messages: [message('m1'), message('m2', { createdAt: new Date(0) })] });
      expect(await listBranchIds(store)).toEqual(['m1', 'm2']);
    });

    it('stores the bytes of a Uint8Array file as base64', async () => {
      const store = await contract.open();
      const bytes = new Uint8Array([0, 255, 104, 105]);
      const file = { type: 'file' as const, mimeType: 'application/octet-stream', data: bytes };
      await store.saveMessages({ messages: [message('m1', { content: { format: 2, parts: [file] } })] });
      bytes.fill(1);
      expect((await store.getMessage({ threadId, messageId: 'm1' }))?.content.parts).toEqual([
        { ...file, data: 'AP9oaQ==' },
      ]);
    });

    it('accepts the bytes of a file as an ArrayBuffer', async () => {
      const store = await contract.open();
      const file = { type: 'file' as const, data: new Uint8Array([104, 105]).buffer };
      await store.saveMessages({ messages: [message('m1', { content: { format: 2, parts: [file] } })] });
      expect((await store.getMessage({ threadId, messageId: 'm1' }))?.content.parts).toEqual([
        { type: 'file', data: 'aGk=' },
      ]);
    });

    it.each<[string, string | Uint8Array, object]>([
      ['a view into a larger buffer', new Uint8Array([0, 104, 105, 0]).subarray(1, 3), {}],
      ['padded base64', 'aGk=', {}],
      ['base64 without padding', 'aGk', {}],
      ['base64 with line breaks', 'aG\r\nk=\n', {}],
      ['a data URL', 'data:image/png;base64,aGk=', { mimeType: 'image/png' }],
      ['a data URL without padding', 'data:image/png;base64,aGk', { mimeType: 'image/png' }],
      ['a data URL with escaped padding', 'data:image/png;base64,aGk%3D', { mimeType: 'image/png' }],
      ['a data URL of text', 'data:,%68i', { mimeType: 'text/plain' }],
      ['a data URL with a charset', 'data:text/plain;charset=utf-8,hi', { mimeType: 'text/plain;charset=utf-8' }],
    ])('accepts %s as the data of a file', async (_, data, rest) => {
      const store = await contract.open();
      const file = { type: 'file' as const, data } as MessagePart;
      const quoted: MessagePart = { type: 'interjection', role: 'user', parts: [file] };
      await store.saveMessages({ messages: [message('m1', { content: content(file, quoted) })] });
      const stored = { type: 'file', data: 'aGk=', ...rest };
      expect((await store.getMessage({ threadId, messageId: 'm1' }))?.content.parts).toEqual([
        stored,
        { type: 'interjection', role: 'user', parts: [stored] },
      ]);
    });

    it('prefers the media type of the part over that of its data URL', async () => {
      const store = await contract.open();
      const file = { type: 'file' as const, data: 'data:image/png;base64,aGk=', mimeType: 'image/x-icon' };
      await store.saveMessages({ messages: [message('m1', { content: content(file) })] });
      expect((await store.getMessage({ threadId, messageId: 'm1' }))?.content.parts).toEqual([
        { ...file, data: 'aGk=' },
      ]);
    });

    it.each(['https://example.com/a.png', 'data:image/png;base64,!!', 'data:image/png', 'a', 'two words'])(
      'rejects %j as the data of a file',
      async (data) => {
        const store = await contract.open();
        const messages = [message('m1', { content: content({ type: 'file', data }) })];
        await expect(store.saveMessages({ messages })).rejects.toMatchObject(storeError('invalid'));
      },
    );

    it('stores nested maps, sets and bytes as JSON', async () => {
      const store = await contract.open();
      const data = { map: new Map([['a', 1]]), set: new Set([1]), bytes: new Uint8Array([1]), at: new Date(0) };
      const messages = [message('m1', { content: content({ type: 'data', data: data as never }) })];
      await store.saveMessages({ messages });
      expect((await store.getMessage({ threadId, messageId: 'm1' }))?.content.parts).toEqual([
        { type: 'data', data: { map: [['a', 1]], set: [1], bytes: 'AQ==', at: '1970-01-01T00:00:00.000Z' } },
      ]);
    });

    it.each<[string, unknown]>([
      ['a BigInt', 1n],
      ['a function', () => 1],
      ['NaN', Number.NaN],
      ['a circular reference', circle()],
    ])('rejects %s, which JSON cannot represent, and names the path', async (_, data) => {
      const store = await contract.open();
      const messages = [message('m1', { content: content({ type: 'data', data: { in: data } as never }) })];
      await expect(store.saveMessages({ messages })).rejects.toMatchObject({
        ...storeError('invalid'),
        message: expect.stringContaining('content.parts[0].data.in'),
      });
    });

    it('stores every field of a message and its content', async () => {
      const store = await contract.open();
      const whole: CanonicalMessage = {
        id: 'm1',
        threadId,
        role: 'assistant',
        type: 'text',
        createdAt,
        resourceId: 'ada',
        runId: 'r1',
        status: 'error',
        state: null,
        sourceState: { task: 7 },
        content: {
          ...content({
            type: 'reasoning',
            id: 'p1',
            reasoning: '',
            providerMetadata: { anthropic: { signature: 's' } },
          }),
          content: 'flat',
          metadata: { deep: { list: [1, 'two', null, false] } },
          providerMetadata: { openai: { itemId: 'i' } },
          agents: { a1: { name: 'planner', kind: 'agent' } },
          steps: { s1: { finishReason: 'stop', usage: [{ inputTokens: 1 }] } },
          runs: [{ runId: 'r1', outcome: 'error', error: { message: 'no', code: 'idle' } }],
        },
      };
      await store.saveMessages({ messages: [whole] });
      expect(await store.getMessage({ threadId, messageId: 'm1' })).toEqual(whole);
    });

    it('preserves NUL and lone surrogates', async () => {
      const store = await contract.open();
      const text = 'a\0b \uD800 \uDC00 \uDBFF\uDFFF \\u0000 \u2028';
      const state: Json = { [text]: [text] };
      await store.saveMessages({ messages: [message('m1', { content: content({ type: 'text', text }), state })] });
      const stored = await store.getMessage({ threadId, messageId: 'm1' });
      expect(stored?.content.parts).toEqual([{ type: 'text', text }]);
      expect(stored?.state).toEqual(state);
    });

    it('stores `__proto__` as an ordinary key', async () => {
      const store = await contract.open();
      const state = JSON.parse('{"__proto__":{"admin":true},"constructor":1}') as Json;
      await store.saveMessages({ messages: [message('m1', { state })] });
      const stored = await store.getMessage({ threadId, messageId: 'm1' });
      expect(JSON.stringify(stored?.state)).toBe('{"__proto__":{"admin":true},"constructor":1}');
    });

    it('preserves parts of unknown types', async () => {
      const store = await contract.open();
      const hologram = { type: 'hologram', id: 'h1', depth: { of: [3] } } as unknown as MessagePart;
      await store.saveMessages({ messages: [message('m1', { content: content(hologram) })] });
      expect((await store.getMessage({ threadId, messageId: 'm1' }))?.content.parts).toEqual([hologram]);
    });

    it('copies messages on write and on read', async () => {
      const store = await contract.open();
      const mine = message('m1', { state: { list: [1] } });
      const { messages } = await store.saveMessages({ messages: [mine] });
      const before = structuredClone(messages);
      (mine.state as { list: number[] }).list.push(2);
      messages[0]!.content.parts.length = 0;
      (await store.listMessages({ threadId }))[0]!.createdAt.setTime(0);
      expect(await store.listMessages({ threadId })).toEqual(before);
    });

    it('never reverts a tool result to a call when a message is saved again', async () => {
      const store = await contract.open();
      const call = { type: 'tool-invocation' as const, toolCallId: 'c1', toolName: 'search' };
      const full = content({ type: 'text', id: 'p1', text: 'Hello' }, { ...call, state: 'result', result: 1 });
      const less = content(
        { type: 'text', id: 'p1', text: 'Hel' },
        { ...call, state: 'call' },
        { type: 'text', id: 'p2', text: '!' },
      );
      await store.saveMessages({ messages: [message('m0'), message('m1', { role: 'assistant', content: full })] });
      const { messages } = await store.saveMessages({
        messages: [message('m1', { content: less, parentId: null, createdAt: new Date(0), state: { n: 1 } })],
      });
      expect(messages).toEqual([
        {
          ...message('m1', { role: 'assistant' }),
          parentId: 'm0',
          status: 'complete',
          state: { n: 1 },
          content: content(...full.parts, { type: 'text', id: 'p2', text: '!' }),
        },
      ]);
      expect(await store.listMessages({ threadId, cursor: { after: 'm0' } })).toEqual(messages);
    });

    it('extends a text, ignores a late save of a shorter prefix, and rejects any other text', async () => {
      const store = await contract.open();
      const save = async (text: string, id?: string) => {
        const body = content({ type: 'text', text, ...(id !== undefined && { id }) });
        return (await store.saveMessages({ messages: [message('m1', { content: body })] })).messages[0]!.content.parts;
      };
      await save('Hello world', 'p1');
      const version = await store.getVersion({ threadId });
      for (const id of ['p1', undefined]) {
        await expect(save('Goodbye', id)).rejects.toMatchObject({
          ...storeError('content-conflict'),
          data: { messageId: 'm1', path: 'content.parts[0]' },
        });
        expect(await save('Hello', id)).toEqual([{ type: 'text', id: 'p1', text: 'Hello world' }]);
      }
      expect(await store.getVersion({ threadId })).toBe(version);
      expect(await save('Hello world, long', 'p1')).toMatchObject([{ text: 'Hello world, long' }]);
    });

    it('writes nothing of a call that contains a conflicting text', async () => {
      const store = await contract.open();
      await store.saveMessages({ messages: [message('m1')] });
      const rewritten = message('m1', { content: content({ type: 'text', text: 'Another text.' }) });
      await expect(store.saveMessages({ messages: [message('m2'), rewritten] })).rejects.toMatchObject(
        storeError('content-conflict'),
      );
      expect(await store.listMessages({ threadId })).toEqual([{ ...message('m1'), status: 'complete' }]);
    });

    it('replaces the content at the expected version and keeps settled calls', async () => {
      const store = await contract.open();
      const settled = {
        type: 'tool-invocation',
        toolCallId: 'c1',
        toolName: 'search',
        state: 'result',
        result: 1,
      } as const;
      const first = content({ type: 'text', text: 'Hello' }, settled, { type: 'text', text: 'world' });
      await store.saveMessages({ messages: [message('m0'), message('m1', { content: first }), message('m2')] });
      const expectedVersion = await store.getVersion({ threadId });
      const edited = message('m1', { content: content({ type: 'text', text: 'Goodbye' }), createdAt: new Date(0) });
      const call = { messages: [edited], mode: 'replace' as const, expectedVersion };
      const { messages, version } = await store.saveMessages(call);
      expect(messages).toEqual([
        {
          ...message('m1'),
          parentId: 'm0',
          status: 'complete',
          content: content(settled, { type: 'text', text: 'Goodbye' }),
        },
      ]);
      expect(version).toBeGreaterThan(expectedVersion);
      expect(await listBranchIds(store)).toEqual(['m0', 'm1', 'm2']);
      expect(await store.getMessage({ threadId, messageId: 'm1' })).toEqual(messages[0]);
      expect(await store.listChanges({ threadId, since: expectedVersion })).toMatchObject([{ message: { id: 'm1' } }]);
      await expect(store.saveMessages(call)).rejects.toMatchObject(storeError('version-conflict'));
    });

    it('inserts an unknown message in mode replace', async () => {
      const store = await contract.open();
      await store.saveMessages({ messages: [message('m1')], mode: 'replace', expectedVersion: 0 });
      expect(await listBranchIds(store)).toEqual(['m1']);
    });

    it('rejects a replacement without an expected version', async () => {
      const store = await contract.open();
      await expect(store.saveMessages({ messages: [message('m1')], mode: 'replace' })).rejects.toMatchObject(
        storeError('invalid'),
      );
      await expect(store.saveMessages({ messages: [message('m1')], mode: 'overwrite' as never })).rejects.toMatchObject(
        storeError('invalid'),
      );
    });

    it('rejects replacing a message whose run is live or waits for an answer', async () => {
      const store = await contract.open();
      const replace = async (id: string) =>
        store.saveMessages({
          messages: [message(id)],
          mode: 'replace',
          expectedVersion: await store.getVersion({ threadId }),
        });
      await paused(store, '1', 'q1');
      await expect(replace('a_1')).rejects.toMatchObject(storeError('busy'));
      await start(store, '2');
      await expect(replace('a_2')).rejects.toMatchObject(storeError('busy'));
      expect((await replace('a_1')).messages).toMatchObject([{ content: { parts: message('a_1').content.parts } }]);
    });

    it('distinguishes a replacement from a merge with the same operation key', async () => {
      const store = await contract.open();
      const call = { messages: [message('m1')], expectedVersion: 0, operationKey: 'op_1' };
      await store.saveMessages(call);
      await expect(store.saveMessages({ ...call, mode: 'replace' })).rejects.toMatchObject(storeError('key-reused'));
    });

    it('matches parts without an id by content, not by position', async () => {
      const store = await contract.open();
      const save = async (...texts: string[]) => {
        const body = content(...texts.map((text) => ({ type: 'text' as const, text })));
        const { messages } = await store.saveMessages({ messages: [message('m1', { content: body })] });
        return messages[0]!.content.parts.map((part) => part.type === 'text' && part.text);
      };
      await save('first', 'second');
      expect(await save('second')).toEqual(['first', 'second']);
      expect(await save('second, longer')).toEqual(['first', 'second, longer']);
      expect(await save('sec')).toEqual(['first', 'second, longer']);
      expect(await save('first', 'second, longer', 'third')).toEqual(['first', 'second, longer', 'third']);
    });

    it('keeps the version if a save changes nothing', async () => {
      const store = await contract.open();
      const { version } = await store.saveMessages({ messages: [message('m1'), message('m2')] });
      expect(await store.saveMessages({ messages: [message('m1')] })).toMatchObject({ version });
      expect(await store.listChanges({ threadId, since: version })).toEqual([]);
      expect((await store.getThreadById({ threadId }))?.headId).toBe('m2');
    });

    it('writes all messages of a call or none', async () => {
      const store = await contract.open();
      const broken = message('m2', { content: { format: 2, parts: [{ type: 'text' } as MessagePart] } });
      await expect(store.saveMessages({ messages: [message('m1'), broken] })).rejects.toMatchObject(
        storeError('invalid'),
      );
      await expect(
        store.saveMessages({ messages: [message('m1'), message('m2', { parentId: 'm9' })] }),
      ).rejects.toMatchObject(storeError('not-found'));
      expect(await store.getThreadById({ threadId })).toBeNull();
    });

    it('saves messages of several threads in one call', async () => {
      const store = await contract.open();
      const { version } = await store.saveMessages({
        messages: [message('m1'), message('m1', { threadId: 'thread_2' }), message('m2')],
      });
      expect(version).toBe(await store.getVersion({ threadId }));
      expect(await listBranchIds(store)).toEqual(['m1', 'm2']);
      expect(await store.listMessages({ threadId: 'thread_2' })).toMatchObject([{ id: 'm1', threadId: 'thread_2' }]);
    });

    it.each([
      ['an empty id', ''],
      ['an id of more than 256 bytes', 'ä'.repeat(129)],
      ['an id with a NUL', 'a\0b'],
      ['an id with a lone surrogate', 'a\uD800'],
    ])('rejects %s', async (_, id) => {
      const store = await contract.open();
      await expect(store.saveMessages({ messages: [message(id)] })).rejects.toMatchObject(storeError('invalid'));
      await expect(store.saveMessages({ messages: [message('m1', { threadId: id })] })).rejects.toMatchObject(
        storeError('invalid'),
      );
      await expect(store.saveThread({ thread: { id } })).rejects.toMatchObject(storeError('invalid'));
      for (const rest of [{ resourceId: id }, { clientId: id }, { runId: id }]) {
        await expect(store.saveMessages({ messages: [message('m1', rest)] })).rejects.toMatchObject(
          storeError('invalid'),
        );
      }
      await expect(store.saveMessages({ messages: [message('m1')], operationKey: id })).rejects.toMatchObject(
        storeError('invalid'),
      );
      expect((await store.listThreads()).threads).toEqual([]);
    });

    it('accepts ids in any script, up to 256 bytes', async () => {
      const store = await contract.open();
      const id = `🧵${'ä'.repeat(126)}`;
      await store.saveMessages({ messages: [message(id, { threadId: id })] });
      expect(await store.getMessage({ threadId: id, messageId: id })).toMatchObject({ id });
    });

    it('executes a call with an operation key once and rejects the key for another call', async () => {
      const store = await contract.open();
      const call = { messages: [message('m1')], operationKey: 'op_1' };
      const first = await store.saveMessages(call);
      await store.saveMessages({ messages: [message('m2')] });
      expect(await store.saveMessages(call)).toEqual({ messages: first.messages, version: first.version + 1 });
      expect(await listBranchIds(store)).toEqual(['m1', 'm2']);
      await expect(store.saveMessages({ ...call, messages: [message('m3')] })).rejects.toMatchObject(
        storeError('key-reused'),
      );
      await store.forScope('other').saveMessages({ ...call, messages: [message('m3')] });
    });

    it('executes a call with an operation key again after its thread was deleted', async () => {
      const store = await contract.open();
      const call = {
        messages: [message('m1'), message('m1', { threadId: 'thread_2' })],
        operationKey: 'op_1',
      };
      await store.saveMessages(call);
      await store.deleteThread({ threadId });
      expect((await store.saveMessages(call)).messages).toHaveLength(2);
      expect(await listBranchIds(store)).toEqual(['m1']);
      expect(await store.listMessages({ threadId: 'thread_2' })).toHaveLength(1);
    });

    it('appends only at the expected version', async () => {
      const store = await contract.open();
      const { version } = await store.saveMessages({ messages: [message('m1')], expectedVersion: 0 });
      await expect(store.saveMessages({ messages: [message('m2')], expectedVersion: 0 })).rejects.toMatchObject(
        storeError('version-conflict'),
      );
      const call = { messages: [message('m2')], expectedVersion: version, operationKey: 'op_1' };
      await store.saveMessages(call);
      await expect(store.saveMessages({ ...call, operationKey: 'op_2' })).rejects.toMatchObject(
        storeError('version-conflict'),
      );
      // A retry after a lost acknowledgement does not conflict with itself.
      expect((await store.saveMessages(call)).messages).toMatchObject([{ id: 'm2' }]);
      const both = [message('m3'), message('m3', { threadId: 'thread_2' })];
      await expect(store.saveMessages({ messages: both, expectedVersion: version })).rejects.toMatchObject(
        storeError('invalid'),
      );
    });

    it('lets one of several concurrent appends at the same version win', async () => {
      const store = await contract.open();
      const calls = ['m1', 'm2', 'm3'].map((id) => store.saveMessages({ messages: [message(id)], expectedVersion: 0 }));
      const results = await Promise.allSettled(calls);
      expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
      expect(await store.listMessages({ threadId })).toHaveLength(1);
    });

    it('rejects saving the message of a running or queued run', async () => {
      const store = await contract.open();
      await start(store, '1');
      await queue(store, '2');
      await expect(store.saveMessages({ messages: [message('a_1')] })).rejects.toMatchObject(storeError('busy'));
      await expect(store.saveMessages({ messages: [message('a_2')] })).rejects.toMatchObject(storeError('busy'));
    });
  });
}
