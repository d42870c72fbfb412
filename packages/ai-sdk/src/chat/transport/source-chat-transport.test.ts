import type { AgentSource } from '@intertie/core';
import { describe, expect, test, vi } from 'vitest';
import { readAll } from '../../../../core/test/read-all.ts';
import { chatMajors, shown } from '../../../test/chats.ts';
import { complete, scriptedSource, textEvents } from '../../../test/scripted-source.ts';
import { SourceChatTransport, type SendMessagesOptions } from './source-chat-transport.ts';

const request = (more: Partial<SendMessagesOptions> = {}): SendMessagesOptions => ({
  chatId: 'thread',
  trigger: 'submit-message',
  messageId: undefined,
  messages: [{ id: 'u', role: 'user', parts: [{ type: 'text', text: 'hi' }] }],
  abortSignal: undefined,
  ...more,
});
const hello = () => scriptedSource((run) => [...textEvents(run, 'text', 'Hel', 'lo'), complete]);

test('returns null on reconnect', async () => {
  expect(await new SourceChatTransport(hello()).reconnectToStream({ chatId: 'thread' })).toBeNull();
});

test('starts no run if the signal is already aborted', async () => {
  const source = hello();
  const abortSignal = AbortSignal.abort();
  const sent = new SourceChatTransport(source).sendMessages(request({ abortSignal }));
  await expect(sent).rejects.toMatchObject({ name: 'AbortError' });
  expect(source.runs).toEqual([]);
});

test('starts the run on the first read and stops it on cancel', async () => {
  const pulled = vi.fn<() => void>();
  const source = scriptedSource(function* (run) {
    for (;;) {
      pulled();
      yield* textEvents(run, `text-${pulled.mock.calls.length}`, 'x');
    }
  });
  const stream = await new SourceChatTransport(source).sendMessages(request());
  expect(pulled).not.toHaveBeenCalled();
  const reader = stream.getReader();
  await reader.read();
  await reader.read();
  await reader.cancel('enough');
  expect(pulled.mock.calls.length).toBeLessThan(3);
  expect(source.signals[0]!.aborted).toBe(true);
});

test('rejects invalid requests', async () => {
  await expect(new SourceChatTransport(hello()).sendMessages(request({ messages: [] }))).rejects.toThrow(
    '"messages" is empty',
  );
});

test('calls prepare with the metadata and body of the chat', async () => {
  const source = hello();
  const transport = new SourceChatTransport(source, {
    prepare: (run, { metadata, body }) => ({
      tools: [{ name: String(metadata) }],
      state: { ...body, thread: run.threadId },
    }),
  });
  await readAll(await transport.sendMessages(request({ metadata: 'ask', body: { a: 1 } })));
  expect(source.runs[0]).toMatchObject({ tools: [{ name: 'ask' }], state: { a: 1, thread: 'thread' } });
});

test('passes the runtime token to the next run without sending it to the client', async () => {
  const source = scriptedSource((run) => [
    ...textEvents(run, 'text', 'ok'),
    { type: 'run-end', outcome: 'complete', resume: { task: run.runId } },
  ]);
  const [{ createChat }] = chatMajors as [(typeof chatMajors)[0]];
  const chat = createChat({ transport: new SourceChatTransport(source) });
  await chat.sendMessage({ text: 'one' });
  expect(JSON.stringify(chat.messages)).not.toContain('"task"');
  await chat.sendMessage({ text: 'two' });
  expect(source.runs[1]!.sourceState).toEqual({ task: source.runs[0]!.runId });
});

describe('source that violates its contract', () => {
  const broken = (run: AgentSource['run']): AgentSource => ({ name: 'broken', pauses: 'replay', run });
  const start = { type: 'run-start', runId: 'r', threadId: 't', messageId: 'm' } as const;

  test.each([
    [
      'throws an error',
      broken(() => {
        throw new Error('Not today.');
      }),
      'Not today.',
    ],
    [
      'errors its stream',
      broken(() => new ReadableStream({ pull: (controller) => controller.error(new Error('Torn.')) })),
      'Torn.',
    ],
    [
      'ends the stream without a run-end',
      broken(
        () =>
          new ReadableStream({
            start(controller) {
              controller.enqueue(start);
              controller.close();
            },
          }),
      ),
      'The stream ended before the run did.',
    ],
    [
      'emits an invalid event',
      broken(
        () =>
          new ReadableStream({
            start(controller) {
              controller.enqueue(start);
              controller.enqueue({ type: 'text-start', id: 't' });
              controller.enqueue({ type: 'text-delta', id: 't', delta: 7 as never });
            },
          }),
      ),
      'The run cannot be shown: its chunk "text-delta" is invalid at "delta"',
    ],
    [
      'emits an invalid run-end',
      broken(
        () =>
          new ReadableStream({
            start(controller) {
              controller.enqueue(start);
              controller.enqueue({ type: 'run-end', outcome: 'complete', finishReason: 'unknown' as never });
            },
          }),
      ),
      'its chunk "finish" is invalid at "finishReason"',
    ],
  ])('ends with an error chunk if the source %s', async (_, source, message) => {
    const chunks = await readAll(await new SourceChatTransport(source).sendMessages(request()));
    expect(chunks.at(-1)).toMatchObject({ type: 'error', errorText: expect.stringContaining(message) as string });
  });
});

describe.each(chatMajors)('$name', ({ major, createChat }) => {
  test('passes encoder options through', async () => {
    const source = scriptedSource((run) => [
      { type: 'reasoning-start', id: `${run.runId}:r` },
      { type: 'reasoning-end', id: `${run.runId}:r` },
      { type: 'tool-call', toolCallId: 'c', toolName: 'rm', input: {}, executor: 'runtime' },
      { type: 'tool-result', toolCallId: 'c', status: 'ok', output: 1 },
      ...textEvents(run, 'text', 'Hello'),
      complete,
    ]);
    const transport = new SourceChatTransport(source, { version: major, sendReasoning: false, staticTools: [] });
    const chat = createChat({ transport: transport as never });
    await chat.sendMessage({ text: 'hi' });
    expect(shown(chat.lastMessage).map(({ type }) => type)).toEqual([
      'step-start',
      'dynamic-tool',
      'step-start',
      'text',
    ]);
  });
});
