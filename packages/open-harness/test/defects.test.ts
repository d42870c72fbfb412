import type { UIMessageChunk } from '@intertie/ai-sdk';
import { iterate, type Loss } from '@intertie/core';
import type { UIMessage } from 'ai';
import { describe, expect, test } from 'vitest';
import { chatMajors } from '../../ai-sdk/test/chats.ts';
import { readAll } from '../../core/test/read-all.ts';
import { begin, node } from './flow-events.ts';
import { ReplayRuntime } from './replay-runtime.ts';
import { readChunks, readMessage, createRequest } from './replayed-chat.ts';
import { ScriptRuntime } from './script-runtime.ts';
import { findTrace } from './traces.ts';
import { OpenHarnessChatTransport } from '../src/chat/open-harness-chat-transport.ts';

// One test per known defect of earlier adapters for these runtimes.

const user = (...parts: object[]): object => ({ id: 'u', role: 'user', parts });
const getTexts = ({ parts }: UIMessage): string[] => parts.flatMap((part) => (part.type === 'text' ? [part.text] : []));

const endless = (): ScriptRuntime =>
  new ScriptRuntime(async (runtime) => {
    runtime.emit(...begin, { type: 'agent:text:delta', ...node, content: 'Hel' });
    await runtime.stopped();
    return 'aborted';
  });

test('1: closes the stream', async () => {
  expect((await readChunks('01')).at(-1)).toMatchObject({ type: 'finish' });
  expect((await readChunks('17')).at(-1)).toMatchObject({ type: 'finish' });
});

test('2: calls run()', async () => {
  const runtime = new ReplayRuntime(findTrace('01'));
  await readAll(await new OpenHarnessChatTransport(runtime).sendMessages(createRequest()));
  expect(runtime.inputs).toMatchObject([{ message: 'hello' }]);
  expect(runtime.commands).toEqual([]);
});

test.each(['03', '06', '08'])('3: streams several text blocks (trace %s)', async (name) => {
  const texts = getTexts(await readMessage(name));
  expect(texts).toHaveLength(2);
  expect(texts.every((text) => text.length > 0)).toBe(true);
});

test('4: streams text that arrives without deltas', async () => {
  const { parts } = await readMessage('05');
  expect(parts.flatMap((part) => ('text' in part ? [[part.type, part.text]] : []))).toEqual([
    ['reasoning', 'T'],
    ['text', 'first block'],
    ['text', 'second, plain string'],
  ]);
});

test('5: sends steps as step chunks', async () => {
  expect((await readChunks('06')).some((chunk) => (chunk.type as string) === 'step-start')).toBe(false);
  expect((await readMessage('06')).parts.filter(({ type }) => type === 'step-start')).toHaveLength(2);
});

describe('6: tools', () => {
  test('keeps two uses of the same tool apart', async () => {
    const tools = (await readMessage('03')).parts.filter((part) => part.type === 'dynamic-tool');
    expect(new Set(tools.map(({ toolCallId }) => toolCallId)).size).toBe(3);
  });

  test('continues after a failed tool', async () => {
    const chunks = await readChunks('03');
    expect(chunks.some(({ type }) => type === 'error')).toBe(false);
    expect(chunks).toContainEqual(expect.objectContaining({ type: 'tool-output-error', errorText: 'exit code 1' }));
  });
});

test('7: sends start, finish and a message id', async () => {
  const chunks = await readChunks('01', { generateMessageId: () => 'm' });
  expect(chunks[0]).toMatchObject({ type: 'start', messageId: 'm' });
  expect(chunks.at(-1)).toMatchObject({ type: 'finish' });
});

test('8: isolates two streams', async () => {
  const transport = new OpenHarnessChatTransport(({ run }) => new ReplayRuntime(findTrace(run.threadId), 'timed'));
  const [one, two] = await Promise.all(
    ['01', '02'].map(async (chatId) => readAll(await transport.sendMessages(createRequest({ chatId })))),
  );
  const text = (chunks: UIMessageChunk[]): string =>
    chunks.map((chunk) => (chunk.type === 'text-delta' ? chunk.delta : '')).join('');
  expect([text(one!), text(two!)]).toEqual(['Hello, world!', 'Answer']);
});

test('9: unsubscribes when the reader cancels', async () => {
  const runtime = endless();
  const signal = new AbortController().signal;
  const reader = (
    await new OpenHarnessChatTransport(runtime).sendMessages(createRequest({ abortSignal: signal }))
  ).getReader();
  for (let type = ''; type !== 'text-delta';) type = (await reader.read()).value!.type;
  expect(runtime.listeners.size).toBe(1);
  await reader.cancel();
  expect(runtime.listeners.size).toBe(0);
});

describe('10: stopping', () => {
  test('does not start with an aborted signal', async () => {
    const runtime = endless();
    const sent = new OpenHarnessChatTransport(runtime).sendMessages(
      createRequest({ abortSignal: AbortSignal.abort() }),
    );
    await expect(sent).rejects.toMatchObject({ name: 'AbortError' });
    expect(runtime.inputs).toEqual([]);
  });

  test('closes the text, reports the abort and stops the runtime', async () => {
    const runtime = endless();
    const stop = new AbortController();
    const stream = await new OpenHarnessChatTransport(runtime).sendMessages(
      createRequest({ abortSignal: stop.signal }),
    );
    const types: string[] = [];
    for await (const { type } of stream as unknown as AsyncIterable<UIMessageChunk>) {
      types.push(type);
      if (type === 'text-delta') stop.abort();
    }
    expect(types).toContain('text-end');
    expect(types.at(-1)).toBe('abort');
    expect(runtime.commands).toMatchObject([{ type: 'abort' }]);
  });
});

describe('11: failure', () => {
  test('reports a failure once and closes the stream', async () => {
    const chunks = await readChunks('10');
    expect(chunks.filter(({ type }) => type === 'error')).toEqual([chunks.at(-1)]);
    expect(chunks.at(-1)).toMatchObject({ errorText: 'Node "assistant" failed: socket hang up' });
  });

  test('formats schema issues as readable text', async () => {
    const error = JSON.stringify([{ code: 'too_small', minimum: 1, path: ['prompt'], message: 'Too small' }]);
    const runtime = new ScriptRuntime(async (own) => {
      own.emit(...begin, { type: 'node:error', ...node, error });
      own.emit({ type: 'flow:complete', flowName: 'flow', status: 'failed' });
      return 'complete';
    });
    const chunks = await readAll(await new OpenHarnessChatTransport(runtime).sendMessages(createRequest()));
    expect(chunks.at(-1)).toEqual({
      type: 'error',
      errorText: 'Node "a" failed: invalid input (prompt: Too small)',
    });
  });
});

test('12: continues after a recovered error', async () => {
  const chunks = await readChunks('12');
  expect(chunks.some(({ type }) => type === 'error')).toBe(false);
  expect(getTexts(await readMessage('12'))).toEqual(['recovered']);
});

describe('13: input', () => {
  test('passes all text, files and history to the flow', async () => {
    const runtime = new ReplayRuntime(findTrace('01'));
    const messages = [
      user({ type: 'text', text: 'before' }),
      { id: 'a', role: 'assistant', parts: [{ type: 'text', text: 'yes?' }] },
      {
        ...user(
          { type: 'text', text: 'one' },
          { type: 'text', text: 'two' },
          { type: 'file', mediaType: 'text/plain', url: 'data:text/plain;base64,aGk=' },
        ),
        id: 'u2',
      },
    ];
    await readAll(await new OpenHarnessChatTransport(runtime).sendMessages(createRequest({ messages })));
    expect(runtime.inputs).toMatchObject([
      {
        message: 'one\n\ntwo',
        files: [{ type: 'file', mimeType: 'text/plain', data: 'aGk=' }],
        history: [
          { role: 'user', content: 'before' },
          { role: 'assistant', content: 'yes?' },
        ],
      },
    ]);
  });

  test.each(chatMajors)('passes the last message when regenerating ($name)', async ({ createChat }) => {
    const runtimes: ReplayRuntime[] = [];
    const factory = (): ReplayRuntime => runtimes[runtimes.push(new ReplayRuntime(findTrace('01'))) - 1]!;
    const chat = createChat({ transport: new OpenHarnessChatTransport(factory) });
    await chat.sendMessage({ text: 'hello' });
    await chat.regenerate();
    expect(runtimes.map(({ inputs }) => inputs)).toEqual([
      [{ message: 'hello', files: [], history: [] }],
      [{ message: 'hello', files: [], history: [] }],
    ]);
    expect(chat.messages).toHaveLength(2);
  });
});

test('14: continues after the first agent', async () => {
  expect(getTexts(await readMessage('06'))).toEqual(['[Research: hello]', '[Summarize: [Research: hello]]']);
});

test('15: continues after the end of the first text', async () => {
  const chunks = await readChunks('03');
  const firstEnd = chunks.findIndex(({ type }) => type === 'text-end');
  expect(chunks.slice(firstEnd).some(({ type }) => type === 'tool-input-available')).toBe(true);
  expect(chunks.slice(firstEnd).some(({ type }) => type === 'text-start')).toBe(true);
});

test('16: delivers chunks in order to slow readers', async () => {
  const stream = await new OpenHarnessChatTransport(() => new ReplayRuntime(findTrace('06'))).sendMessages(
    createRequest(),
  );
  const slow: UIMessageChunk[] = [];
  for await (const chunk of iterate(stream)) {
    slow.push(chunk);
    await new Promise((resolve) => setTimeout(resolve, slow.length % 3));
  }
  const deltas = (chunks: UIMessageChunk[]): string[] =>
    chunks.flatMap((chunk) => (chunk.type === 'text-delta' ? [chunk.delta] : []));
  expect(deltas(slow)).toEqual(deltas(await readChunks('06')));
});

test('never throws into the runtime and reports every loss', async () => {
  const losses: Loss[] = [];
  const runtime = endless();
  const transport = new OpenHarnessChatTransport(runtime, { onLoss: (loss) => void losses.push(loss) });
  const reader = (await transport.sendMessages(createRequest())).getReader();
  for (let type = ''; type !== 'text-delta';) type = (await reader.read()).value!.type;
  expect(() => runtime.emit(null as never, { type: 'nobody:knows' } as never)).not.toThrow();
  runtime.emit({ type: 'agent:text:delta', ...node, content: 'lo' });
  expect((await reader.read()).value).toMatchObject({ type: 'text-delta', delta: 'lo' });
  await reader.cancel();
  expect(losses.map(({ what }) => what)).toContain('raw');
});
