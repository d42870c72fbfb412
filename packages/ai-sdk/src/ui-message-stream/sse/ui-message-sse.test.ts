import { createUIMessageStreamResponse, parseJsonEventStream, uiMessageChunkSchema } from 'ai';
import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { arbitraryEncoded } from '../../../test/arbitrary-ui-chunks.ts';
import type { UIMessageChunk6 } from '../chunk/ui-message-chunk.ts';
import { createUIMessageSSEStream, readUIMessageSSE, writeUIMessageSSE } from './ui-message-sse-stream.ts';
import {
  createUIMessageSSEParser,
  doneFrame,
  toUIMessageFrame,
  UIMessageSSEError,
  uiMessageStreamHeaders,
} from './ui-message-sse.ts';

type Source = ReadableStreamDefaultController<UIMessageChunk6>;

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const delta = (text: string): UIMessageChunk6 => ({ type: 'text-delta', id: 'p', delta: text });

/** Parses a text in pieces of the given number of bytes, and collects all callbacks. */
function parse(text: string, size = Infinity): { chunks: unknown[]; ids: unknown[]; errors: UIMessageSSEError[] } {
  const parsed = { chunks: [] as unknown[], ids: [] as unknown[], errors: [] as UIMessageSSEError[] };
  const parser = createUIMessageSSEParser({
    onChunk: (chunk, id) => {
      parsed.chunks.push(chunk);
      parsed.ids.push(id);
    },
    onError: (error) => parsed.errors.push(error),
  });
  const all = bytes(text);
  for (let at = 0; at < all.length; at += size) parser.feed(all.subarray(at, Math.min(at + size, all.length)));
  parser.end();
  return parsed;
}

async function readText(stream: ReadableStream<Uint8Array>): Promise<string> {
  return new Response(stream).text();
}

function createStream<Item>(...items: Item[]): ReadableStream<Item> {
  return new ReadableStream({
    start(controller) {
      for (const item of items) controller.enqueue(item);
      controller.close();
    },
  });
}

async function readItems<Item>(stream: ReadableStream<Item>): Promise<Item[]> {
  const items: Item[] = [];
  const reader = stream.getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return items;
    items.push(value);
  }
}

describe('SSE writer', () => {
  it('writes the same bytes and headers as ai', async () => {
    const chunks: UIMessageChunk6[] = [{ type: 'start', messageId: 'm' }, delta('é🙂\n'), { type: 'finish' }];
    const response = createUIMessageStreamResponse({ stream: createStream(...chunks) });
    expect(Object.fromEntries(response.headers)).toEqual(uiMessageStreamHeaders);
    const text = await response.text();
    expect(await readText(writeUIMessageSSE(createStream(...chunks)))).toBe(text);
    expect(await readText(createStream(...chunks).pipeThrough(createUIMessageSSEStream()))).toBe(text);
  });

  it('writes the id of each event', async () => {
    const stream = writeUIMessageSSE(createStream(delta('a')), { getId: () => '1.2.0' });
    expect(await readText(stream)).toBe(`id: 1.2.0\ndata: {"type":"text-delta","id":"p","delta":"a"}\n\n${doneFrame}`);
  });

  it('writes a keep-alive comment while idle, and stops its timer', async () => {
    vi.useFakeTimers();
    try {
      const endings: Array<(stream: ReadableStream<Uint8Array>, source: Source) => Promise<unknown>> = [
        (_stream, source) => Promise.resolve(source.close()),
        (_stream, source) => Promise.resolve(source.error(new Error('gone'))),
        (stream) => stream.cancel(),
      ];
      for (const end of endings) {
        let source!: Source;
        const stream = writeUIMessageSSE<UIMessageChunk6>(
          new ReadableStream({ start: (controller) => void (source = controller) }),
          { keepAliveMs: 1000 },
        );
        await vi.advanceTimersByTimeAsync(5000);
        const reader = stream.getReader();
        // Only one comment is queued for a reader that does not read.
        expect(new TextDecoder().decode((await reader.read()).value)).toBe(': keep-alive\n\n');
        reader.releaseLock();
        await end(stream, source);
        await vi.advanceTimersByTimeAsync(0);
        expect(vi.getTimerCount()).toBe(0);
      }
    } finally {
      vi.useRealTimers();
    }
  });

  it('round-trips any JSON', () => {
    fc.assert(
      fc.property(arbitraryEncoded(6), fc.integer({ min: 1, max: 40 }), (chunks, size) => {
        const text = chunks.map((chunk) => toUIMessageFrame(chunk)).join('') + doneFrame;
        const { chunks: read, errors } = parse(text, size);
        expect(errors).toEqual([]);
        expect(read).toEqual(JSON.parse(JSON.stringify(chunks)));
      }),
      { numRuns: 100 },
    );
  });
});

describe('SSE parser', () => {
  it('returns chunks with their event ids, and ignores other fields, comments and [DONE]', () => {
    const text = `: hello\nevent: x\nretry: 5\nid: 1.1.0\ndata: ${JSON.stringify(delta('a'))}\n\ndata: ${JSON.stringify(delta('b'))}\r\n\r\n${doneFrame}`;
    const { chunks, ids, errors } = parse(text);
    expect([chunks, ids, errors]).toEqual([[delta('a'), delta('b')], ['1.1.0', undefined], []]);
  });

  it('parses repeated deltas of a part by their prefix, and all others as JSON', () => {
    const texts = ['a', '"quoted"', '\\', '\u0000', 'tab\t', 'é🙂', '', '"}', '\ud800'];
    const chunks = texts.flatMap((text) => [
      delta(text),
      delta(text),
      { type: 'reasoning-delta', id: '"', delta: text },
    ]);
    expect(parse(chunks.map((chunk) => toUIMessageFrame(chunk)).join('')).chunks).toEqual(chunks);
    const frames = [
      `data: {"type":"text-delta","id":"p","delta":"a"}\n\n`,
      `data: {"type":"text-delta","id":"p","delta":"a","delta":"b"}\n\n`,
      `data: {"type":"text-delta","id":"p","delta":"a","providerMetadata":{}}\n\n`,
      `data: {"type":"text-delta","id":"p","delta":"\u0001"}\n\n`,
    ];
    const { chunks: read, errors } = parse(frames.join(''));
    expect(read).toEqual([delta('a'), delta('b'), { ...delta('a'), providerMetadata: {} }]);
    expect(errors).toMatchObject([{ type: 'json' }]);
  });

  it('rejects the events that ai rejects, with a reason', () => {
    const cases: Array<[frame: string, type: UIMessageSSEError['type'], message: RegExp]> = [
      ['data: <html>\n\n', 'json', /Invalid JSON/],
      ['data: {"type":"text-delta","id":5,"delta":""}\n\n', 'chunk', /at "id"/],
      ['data: {"type":"brand-new"}\n\n', 'chunk', /unknown chunk type/],
      ['data: {"type":"data-x","data":{"__proto__":1}}\n\n', 'json', /./],
      ['data: {"type":"data-x","data":{"\\u005f_proto__":1}}\n\n', 'json', /./],
      ['data: {"type":"data-x","data":{"constructor":{"prototype":1}}}\n\n', 'json', /./],
    ];
    for (const [frame, type, message] of cases) {
      const { errors } = parse(frame);
      expect(errors).toHaveLength(1);
      expect(errors[0]).toMatchObject({ type });
      expect(errors[0]?.message).toMatch(message);
    }
  });

  it('agrees with parseJsonEventStream on every event', async () => {
    const data = ['{"constructor":1}', '{"a":"__proto__"}', '{"__proto__":1}', 'null', '1', '[]', '{', ''];
    const frames = [...data, ...data.map((one) => `{"type":"data-x","data":${one}}`)];
    for (const one of frames) {
      const frame = `data: ${one}\n\n`;
      const theirs = await readItems(
        parseJsonEventStream({ stream: createStream(bytes(frame)), schema: uiMessageChunkSchema }),
      );
      expect(parse(frame).chunks, frame).toHaveLength(theirs.filter(({ success }) => success).length);
    }
  });

  it('reports an event without its blank line (S14), which ai drops silently', () => {
    const { chunks, errors } = parse(`${toUIMessageFrame(delta('a'))}data: ${JSON.stringify(delta('b'))}\n`);
    expect(chunks).toEqual([delta('a')]);
    expect(errors).toMatchObject([{ type: 'incomplete' }]);
    expect(parse(`${toUIMessageFrame(delta('a'))}data: [DONE]`).errors).toEqual([]);
    expect(parse(`${toUIMessageFrame(delta('a'))}: bye`).errors).toEqual([]);
  });

  it('limits the size of an event', () => {
    const errors: UIMessageSSEError[] = [];
    const parser = createUIMessageSSEParser({
      maxEventSize: 10,
      onChunk: () => {},
      onError: (error) => errors.push(error),
    });
    parser.feed(bytes(`data: ${'x'.repeat(20)}`));
    parser.feed(bytes('y'));
    parser.end();
    expect(errors).toMatchObject([{ type: 'size' }]);
  });
});

describe('SSE stream', () => {
  it('delivers valid chunks before an error, and releases the source', async () => {
    const cancel = vi.fn<(reason: unknown) => void>();
    const source = new ReadableStream<Uint8Array>({
      start: (controller) => controller.enqueue(bytes(`${toUIMessageFrame(delta('a'))}data: <html>\n\n`)),
      cancel,
    });
    const reader = readUIMessageSSE(source).getReader();
    expect(await reader.read()).toEqual({ done: false, value: delta('a') });
    await expect(reader.read()).rejects.toBeInstanceOf(UIMessageSSEError);
    expect(cancel).toHaveBeenCalledOnce();
  });

  it('reads on demand, closes with the source, and cancels it', async () => {
    expect(
      await readItems(readUIMessageSSE(createStream(bytes(toUIMessageFrame(delta('a'))), bytes(doneFrame)))),
    ).toEqual([delta('a')]);
    const pull = vi.fn<() => void>();
    const cancel = vi.fn<(reason: unknown) => void>();
    const stream = readUIMessageSSE(new ReadableStream({ pull, cancel }, { highWaterMark: 0 }));
    await Promise.resolve();
    expect(pull).not.toHaveBeenCalled();
    await stream.cancel('bye');
    expect(cancel).toHaveBeenCalledWith('bye');
  });

  it('fails with the error of the source', async () => {
    const source = new ReadableStream<Uint8Array>({ pull: (controller) => controller.error(new TypeError('network')) });
    await expect(readUIMessageSSE(source).getReader().read()).rejects.toThrow('network');
  });
});
