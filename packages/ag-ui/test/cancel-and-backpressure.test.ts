import { modelSource } from '@intertie/ai-sdk';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { MockLanguageModelV3 } from 'ai/test';
import { AgentsToAGUIAdapter } from '../src/stream-text/agents-to-ag-ui-adapter.ts';
import { createAGUIHandler } from '../src/server/create-ag-ui-handler.ts';
import { protobuf } from '../src/wire/protobuf.ts';
import { toAGUI } from '../src/stream-text/to-ag-ui.ts';
import { toAGUIResponse } from '../src/stream-text/to-ag-ui-response.ts';
import { majors, type ModelPart } from './scripted-model.ts';
import { serve } from '../../ai-sdk/test/serve.ts';

const input = {
  threadId: 't',
  runId: 'r',
  protocolVersion: '1.0',
  messages: [{ id: 'u1', role: 'user' as const, content: 'Go.' }],
};
/** Upper bound of the parts read for a client that does not read: one chunk, and the buffers of the SDK. */
const bound = 256 + 32;

/** Creates a model that emits deltas as long as it is read, and records reads and stops. */
function endlessModel() {
  const seen = { pulled: 0, stopped: false };
  const model = new MockLanguageModelV3({
    doStream: async ({ abortSignal }) => {
      abortSignal?.addEventListener('abort', () => void (seen.stopped = true));
      const stream = new ReadableStream<ModelPart>(
        {
          start: (controller) => controller.enqueue({ type: 'text-start', id: '0' }),
          async pull(controller) {
            seen.pulled += 1;
            // Occasional pauses, like a real model.
            if (seen.pulled % 50 === 0) await new Promise((resolve) => setTimeout(resolve, 1));
            if (!seen.stopped) controller.enqueue({ type: 'text-delta', id: '0', delta: 'more ' });
          },
          cancel: () => void (seen.stopped = true),
        },
        { highWaterMark: 0 },
      );
      return { stream };
    },
  });
  return { model, seen };
}

/** Waits until nothing more is read. Returns the number of parts read. */
async function settle(seen: { pulled: number }): Promise<number> {
  for (let last = -1, same = 0; ; last = seen.pulled) {
    same = last === seen.pulled ? same + 1 : 0;
    if (same > 10 || seen.pulled > 100 * bound) return seen.pulled;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

const post = (headers: Record<string, string> = {}): Request =>
  new Request('http://localhost/', { method: 'POST', headers, body: JSON.stringify(input) });

describe('backpressure', () => {
  // Streams of AI SDK 6 read ahead even without a reader.
  const { ai } = majors.find(({ name }) => name === 'ai 7')!;

  it('reads at most one chunk for a client of the handler that does not read', async () => {
    const { model, seen } = endlessModel();
    const response = await createAGUIHandler(modelSource(model, { streamText: ai.streamText }))(post());
    expect(await settle(seen)).toBeLessThan(bound);
    const reader = response.body!.getReader();
    await reader.read();
    expect(await settle(seen)).toBeLessThan(2 * bound);
    await reader.cancel();
    await vi.waitFor(() => expect(seen.stopped).toBe(true), { timeout: 10_000 });
  });

  it('reads nothing for a protobuf client that does not read', async () => {
    const { model, seen } = endlessModel();
    const accept = protobuf.mediaType;
    const handler = createAGUIHandler(modelSource(model, { streamText: ai.streamText }), { protobuf });
    const response = await handler(post({ accept }));
    expect(response.headers.get('content-type')).toBe(accept);
    expect(await settle(seen)).toBe(0);
    await response.body!.cancel();
  });

  it('reads at most one chunk for a client of toAGUIResponse that does not read', async () => {
    const { model, seen } = endlessModel();
    const response = toAGUIResponse(ai.streamText({ model, prompt: 'Go.' }), { input });
    expect(await settle(seen)).toBeLessThan(bound);
    await response.body!.cancel();
  });

  it('reads nothing before toAGUI or the adapter is read', async () => {
    let reads = 0;
    const next = async (): Promise<IteratorResult<object>> => ({
      done: false,
      value: { type: 'ping', n: (reads += 1) },
    });
    const fullStream = { [Symbol.asyncIterator]: () => ({ next }) };
    const stream = toAGUI({ fullStream }, { input });
    const events = new AgentsToAGUIAdapter().adaptStreamToAGUI({ fullStream });
    await new Promise((resolve) => setTimeout(resolve, 5));
    expect(reads).toBe(0);
    await stream.cancel();
    await events.return();
  });
});

describe.each(majors)('$name', ({ ai }) => {
  it('aborts the model within a second after the client disconnects', async () => {
    const endless = endlessModel();
    const served = await serve(createAGUIHandler(modelSource(endless.model, { streamText: ai.streamText })));
    onTestFinished(() => served.close());
    const left = new AbortController();
    const response = await fetch(served.url, { method: 'POST', body: JSON.stringify(input), signal: left.signal });
    await response.body!.getReader().read();
    left.abort();
    await vi.waitFor(() => expect(endless.seen.stopped).toBe(true), { timeout: 1000 });
    const { pulled } = endless.seen;
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(endless.seen.pulled - pulled).toBeLessThan(2);
  });
});

describe('cancellation', () => {
  /** Endless parts, and whether they were cancelled. */
  const parts = () => {
    const seen = { left: false };
    const fullStream = (async function* () {
      try {
        yield { type: 'start' };
        yield { type: 'start-step', request: {}, warnings: [] };
        yield { type: 'text-start', id: '0' };
        for (;;) yield { type: 'text-delta', id: '0', text: 'more ' };
      } finally {
        seen.left = true;
      }
    })();
    return { seen, fullStream };
  };

  it('cancels the parts when the loop over toAGUI is left', async () => {
    const { seen, fullStream } = parts();
    for await (const event of toAGUI({ fullStream })) if (event.type === 'TEXT_MESSAGE_CONTENT') break;
    await vi.waitFor(() => expect(seen.left).toBe(true), { timeout: 10_000 });
  });

  it('cancels the parts when the loop over the adapter is left', async () => {
    const { seen, fullStream } = parts();
    for await (const event of new AgentsToAGUIAdapter().adaptStreamToAGUI({ fullStream })) {
      if (event.type === 'TEXT_MESSAGE_CHUNK') break;
    }
    await vi.waitFor(() => expect(seen.left).toBe(true), { timeout: 10_000 });
  });

  it('cancels the parts when the body of toAGUIResponse is cancelled', async () => {
    const { seen, fullStream } = parts();
    const reader = toAGUIResponse({ fullStream }, { input }).body!.getReader();
    await reader.read();
    await reader.cancel();
    await vi.waitFor(() => expect(seen.left).toBe(true), { timeout: 10_000 });
  });

  it('returns from the adapter without waiting for a pending part', async () => {
    const fullStream = { [Symbol.asyncIterator]: () => ({ next: () => new Promise<never>(() => undefined) }) };
    const events = new AgentsToAGUIAdapter().adaptStreamToAGUI({ fullStream });
    expect((await events.next()).value).toMatchObject({ type: 'RUN_STARTED' });
    void events.next();
    expect(await events.return()).toEqual({ done: true, value: undefined });
  });

  it('answers concurrent next() calls of the adapter in order', async () => {
    const { fullStream } = parts();
    const events = new AgentsToAGUIAdapter({ form: 'triads' }).adaptStreamToAGUI({ fullStream });
    const types = await Promise.all(Array.from({ length: 5 }, () => events.next()));
    expect(types.map(({ value }) => value?.type)).toEqual([
      'RUN_STARTED',
      'STEP_STARTED',
      'TEXT_MESSAGE_START',
      'TEXT_MESSAGE_CONTENT',
      'TEXT_MESSAGE_CONTENT',
    ]);
    await events.return();
  });
});
