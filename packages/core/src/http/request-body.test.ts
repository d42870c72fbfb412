import { describe, expect, it } from 'vitest';
import { checkMessageCounts, readJsonBody, type RequestLimits } from './request-body.ts';

/** Creates a body that arrives in pieces of a few bytes and counts the bytes that were read. */
function arriving(text: string, pieceBytes: number): { body: ReadableStream<Uint8Array<ArrayBuffer>>; read(): number } {
  const bytes = new TextEncoder().encode(text);
  let at = 0;
  const body = new ReadableStream<Uint8Array<ArrayBuffer>>(
    {
      pull(controller) {
        if (at >= bytes.length) return controller.close();
        controller.enqueue(bytes.slice(at, at + pieceBytes));
        at += pieceBytes;
      },
    },
    { highWaterMark: 0 },
  );
  return { body, read: () => Math.min(at, bytes.length) };
}

const read = (text: string, limits: Partial<RequestLimits> = {}, pieceBytes = 7): Promise<unknown> =>
  readJsonBody(arriving(text, pieceBytes), { limits });

describe('readJsonBody', () => {
  it.each([1, 2, 3, 100])('parses UTF-8 that arrives in pieces of %i bytes', async (pieceBytes) => {
    const value = { text: 'größer 会話 🎈 "[{\\', list: [[1], { a: null }] };
    expect(await read(JSON.stringify(value), {}, pieceBytes)).toEqual(value);
  });

  it('returns undefined for an empty body and for no body', async () => {
    expect(await read(' \n')).toBeUndefined();
    expect(await readJsonBody({ body: null })).toBeUndefined();
  });

  it('does not count the base64 data of files as JSON', async () => {
    const file = 'QUJD+/'.repeat(1_000);
    const body = { a: `data:image/png;base64,${file}==`, b: { data: file }, c: file.replaceAll('/', '_') };
    expect(await read(JSON.stringify(body), { jsonBytes: 100 })).toEqual(body);
    // PHP writes slashes like this.
    expect(await read(JSON.stringify(body).replaceAll('/', String.raw`\/`), { jsonBytes: 100 })).toEqual(body);
  });

  it('counts long text with spaces as JSON', async () => {
    const text = JSON.stringify({ text: 'lorem ipsum '.repeat(1_000) });
    await expect(read(text, { jsonBytes: 1_000 })).rejects.toMatchObject({ code: 'json-too-large', status: 413 });
  });

  it('rejects JSON that is too large before reading the rest of it', async () => {
    const sent = arriving(`{"messages":[${'{},'.repeat(100_000)}{}]}`, 1_000);
    const refused = readJsonBody(sent, { limits: { jsonBytes: 10_000 } });
    await expect(refused).rejects.toMatchObject({ code: 'json-too-large', fix: expect.stringContaining('jsonBytes') });
    expect(sent.read()).toBeLessThan(12_000);
  });

  it('rejects a body that is too large with its files', async () => {
    const text = JSON.stringify({ data: 'A'.repeat(5_000) });
    await expect(read(text, { bodyBytes: 4_000 })).rejects.toMatchObject({ code: 'too-large', status: 413 });
  });

  it('rejects JSON that nests too deeply, but not brackets in strings or siblings', async () => {
    const nested = (depth: number): string => '[{"a":'.repeat(depth / 2) + '1' + '}]'.repeat(depth / 2);
    await expect(read(nested(10_000))).rejects.toMatchObject({ code: 'json-too-deep', status: 400 });
    await expect(read(nested(6), { jsonDepth: 5 })).rejects.toThrow('deeper than 5');
    expect(await read(nested(6), { jsonDepth: 6 })).toEqual([{ a: [{ a: [{ a: 1 }] }] }]);
    // Brackets in a string do not nest.
    expect(await read(JSON.stringify(['['.repeat(500), '\\"[['.repeat(500)]), { jsonDepth: 1 })).toHaveLength(2);
    // Siblings do not nest.
    expect(await read(`[${'[],'.repeat(500)}[]]`, { jsonDepth: 2 })).toHaveLength(501);
  });

  it('rejects text that is not JSON or not UTF-8', async () => {
    await expect(read('{"a":')).rejects.toMatchObject({ code: 'bad-json', status: 400 });
    const body = new Response(new Uint8Array([0x22, 0xff, 0x22])).body;
    await expect(readJsonBody({ body })).rejects.toThrow('not UTF-8');
  });

  it('creates a response with code, message and fix', async () => {
    const error = await read('{').catch((refused: { toResponse(): Response }) => refused.toResponse());
    expect(await (error as Response).json()).toEqual({
      error: { code: 'bad-json', message: expect.any(String), fix: 'Send a JSON object, encoded as UTF-8.' },
    });
  });
});

describe('checkMessageCounts', () => {
  const twoEach = (): number => 2;

  it('accepts as many messages and parts as the limits allow', () => {
    expect(() => checkMessageCounts([1, 2, 3], twoEach, { messages: 3, parts: 6 })).not.toThrow();
  });

  it('rejects more messages or parts', () => {
    expect(() => checkMessageCounts([1, 2, 3], twoEach, { messages: 2 })).toThrow('3 messages, and the limit is 2');
    expect(() => checkMessageCounts([1, 2, 3], twoEach, { parts: 5 })).toThrow('6 parts, and the limit is 5');
  });
});
