import { canonical, check } from '@intertie/conformance';
import {
  foldEvents,
  transcode,
  type AgentEvent,
  type CanonicalMessage,
  type EventOf,
  type RunInput,
} from '@intertie/core';
import { describe, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { runControl } from '../../core/test/run-control.ts';
import type { LanguageModel, ToolSet } from 'ai';
import { createUIMessageEncoder } from '../src/ui-message-stream/encode/encode-ui-message-stream.ts';
import { modelSource, type ModelSourceOptions } from '../src/source/model-source.ts';
import { toUIMessages } from '../src/messages/to-ui-messages.ts';
import {
  anthropicCall,
  anthropicText,
  googleInteractionsText,
  googleText,
  openaiImage,
  perplexityText,
  providerModel,
  xaiText,
  type Frames,
  type ProviderName,
} from './provider-streams.ts';
import { reduceUIChunks } from './reduce-ui-chunks.ts';
import { collect, majors, runInput } from './scripted-model.ts';

const user: CanonicalMessage = {
  id: 'user-1',
  threadId: 'thread-1',
  role: 'user',
  type: 'text',
  content: { format: 2, parts: [{ type: 'text', text: 'hi' }] },
  createdAt: new Date(0),
};

type Ran = { events: AgentEvent[]; message: CanonicalMessage; end: EventOf<'run-end'> };

describe.each(majors)('$name', ({ ai, major }) => {
  async function run(
    model: LanguageModel,
    options: ModelSourceOptions = {},
    input: Partial<RunInput> = {},
  ): Promise<Ran> {
    const source = modelSource(model, { streamText: ai.streamText, version: major, ...options });
    const stream = source.run(runInput({ history: [user], ...input }), runControl());
    const events = await collect(stream as unknown as AsyncIterable<AgentEvent>);
    expect(check(canonical, events).violations).toEqual([]);
    return { events, message: foldEvents(events)!, end: events.at(-1) as EventOf<'run-end'> };
  }

  describe('a provider that repeats a tool call id', () => {
    const execute = vi.fn<(input: { a: number }) => Promise<number>>(async ({ a }) => a + 1);
    const tools = { add: ai.tool({ inputSchema: z.object({ a: z.number() }), execute }) };

    test('runs every streamed call of one run', async () => {
      execute.mockClear();
      const model = providerModel(
        'anthropic',
        major,
        anthropicCall('toolu_0', 'add', { a: 1 }),
        anthropicCall('toolu_0', 'add', { a: 2 }),
        anthropicText('Done'),
      );
      const { message, end } = await run(model, { tools });
      expect(end.outcome).toBe('complete');
      expect(execute).toHaveBeenCalledTimes(2);
      const calls = message.content.parts.filter(({ type }) => type === 'tool-invocation');
      expect(calls).toMatchObject([
        { toolCallId: 'toolu_0', result: 2 },
        { toolCallId: expect.not.stringMatching('toolu_0'), result: 3 },
      ]);
    });

    test('runs a streamed call whose id is in the history', async () => {
      const responses = [anthropicCall('toolu_0', 'add', { a: 1 }), anthropicText('Done')];
      const first = await run(providerModel('anthropic', major, ...responses), { tools });
      const second = await run(
        providerModel('anthropic', major, ...responses),
        { tools },
        { runId: 'run-2', messageId: 'message-2', history: [user, first.message, { ...user, id: 'user-2' }] },
      );
      expect(second.end.outcome).toBe('complete');
      expect(second.message.content.parts.find(({ type }) => type === 'tool-invocation')).toMatchObject({
        state: 'result',
        result: 2,
      });
    });
  });

  describe('a stream that is cut', () => {
    const answers: Array<{ name: ProviderName; frames: Frames }> = [
      { name: 'anthropic', frames: anthropicText('Hello') },
      { name: 'google', frames: googleText('Hel', 'lo') },
      { name: 'google interactions', frames: googleInteractionsText('Hel', 'lo') },
      { name: 'perplexity', frames: perplexityText('Hel', 'lo') },
      { name: 'xai', frames: xaiText('Hel', 'lo') },
    ];
    const truncated: unknown = expect.objectContaining({ code: 'truncated' });
    const anyError: unknown = expect.anything();
    const finished = /"(?:stop_reason|finish_reason|finishReason)":"|"interaction\.completed"/;

    test.each(answers)('ends as truncated wherever $name has not sent its finish reason', async ({ name, frames }) => {
      const whole = await run(providerModel(name, major, frames));
      expect(whole.end.outcome).toBe('complete');
      const finish = frames.findIndex((frame) => finished.test(JSON.stringify(frame)));
      expect(finish).toBeGreaterThan(0);
      for (let length = 0; length <= finish; length++) {
        const { end, message } = await run(providerModel(name, major, frames.slice(0, length)), { maxRetries: 0 });
        // Some providers and the SDK fail differently on a stream without text.
        const hasText = message.content.parts.some((part) => part.type === 'text' && part.text !== '');
        const error = hasText ? truncated : anyError;
        expect(end, `cut after ${length} frames`).toMatchObject({ outcome: 'error', error });
      }
    });
  });

  describe('the message that useChat reads from the stream', () => {
    async function types({ events, message }: Ran): Promise<unknown[]> {
      const chunks = transcode(createUIMessageEncoder<7>({ version: major as 7 }), events);
      const live = (await reduceUIChunks(major, chunks)).message!.parts.map(({ type }) => type);
      const [reloaded] = toUIMessages([message], { version: major });
      expect(reloaded!.parts.map(({ type }) => type)).toEqual(live);
      return live;
    }

    test('streams the steps of the stored message if text follows a call in one step', async () => {
      const tools = { add: ai.tool({ inputSchema: z.object({ a: z.number() }), execute: async ({ a }) => a + 1 }) };
      const [start, ...frames] = anthropicCall('toolu_0', 'add', { a: 1 });
      const end = frames.splice(-2);
      const text = anthropicText('While it runs').slice(1, 4) as Array<{ index: number }>;
      const response = [start!, ...frames, ...text.map((frame) => ({ ...frame, index: 1 })), ...end];
      const ran = await run(providerModel('anthropic', major, response, anthropicText('Done')), { tools });
      const own = major === 7 ? ['custom'] : [];
      expect(await types(ran)).toEqual(['step-start', ...own, 'tool-add', 'text', 'step-start', ...own, 'text']);
    });

    test('puts sources in the step that they belong to', async () => {
      const ran = await run(providerModel('perplexity', major, perplexityText('Hel', 'lo')));
      expect(await types(ran)).toEqual(['step-start', 'source-url', 'source-url', 'text']);
    });
  });

  describe('an image that the provider sends in parts', () => {
    const tools = {
      draw: { type: 'provider', id: 'openai.image_generation', args: { partialImages: 2 }, inputSchema: z.object({}) },
    } as unknown as ToolSet;
    const frames = openaiImage(['cGFydC0x', 'cGFydC0y'], 'd2hvbGU=');

    test('stores the final image, with partial images as preliminary results', async () => {
      const { events, message, end } = await run(providerModel('openai', major, frames), { tools });
      expect(end.outcome).toBe('complete');
      expect(message.content.parts).toMatchObject([
        { toolName: 'draw', executor: 'provider', state: 'result', result: { result: 'd2hvbGU=' } },
      ]);
      const results = events.flatMap((event) =>
        event.type === 'tool-result' && event.status === 'ok' ? [[event.output, event.preliminary ?? false]] : [],
      );
      expect(results).toMatchObject([
        [{ result: 'cGFydC0x' }, true],
        [{ result: 'cGFydC0y' }, true],
        [{ result: 'd2hvbGU=' }, false],
      ]);
    });

    test('shows the final image in the message that useChat reads', async () => {
      const { events } = await run(providerModel('openai', major, frames), { tools });
      const { message } = await reduceUIChunks(
        major,
        transcode(createUIMessageEncoder<7>({ version: major as 7 }), events),
      );
      expect(message!.parts.at(-1)).toMatchObject({ state: 'output-available', output: { result: 'd2hvbGU=' } });
      expect(message!.parts.at(-1)).not.toMatchObject({ preliminary: true });
    });

    test('keeps the last partial image if the stream is cut', async () => {
      const { message, end } = await run(providerModel('openai', major, frames.slice(0, 4)), { tools });
      expect(end).toMatchObject({ outcome: 'error', error: { code: 'truncated' } });
      expect(message.content.parts).toMatchObject([{ result: { result: 'cGFydC0y' } }]);
    });
  });
});
