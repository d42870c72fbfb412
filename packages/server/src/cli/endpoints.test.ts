import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createA2AHandler } from '@intertie/a2a';
import { createAGUIHandler } from '@intertie/ag-ui';
import { Agent } from '@intertie/agent';
import { createChatHandler } from '@intertie/ai-sdk';
import { parseTape, tapeSource, type AgentSource } from '@intertie/core';
import { createMAILDemo } from '@intertie/mail/demo';
import { describe, expect, it, vi } from 'vitest';
import { serve } from '../../test/serve-tool.ts';
import { testIO } from '../../test/tool-io.ts';
import { checkStream } from './check/check.ts';
import { convert } from './convert/convert.ts';
import { record } from './record/record.ts';
import { replay } from './replay/replay.ts';

const corpus = join(import.meta.dirname, '../../../conformance/corpus');
const tapeFile = join(corpus, 'swarm-asks.tape.jsonl');
const source: AgentSource = tapeSource(parseTape(readFileSync(tapeFile)), { speed: Infinity });
const newFile = (): string => join(mkdtempSync(join(tmpdir(), 'intertie-')), 'a.tape.jsonl');

const agUi = await serve(createAGUIHandler(source));
const chat = await serve(createChatHandler(source));
const mail = await serve(createMAILDemo({ paceMs: 0, stallMs: 10 }).fetch);
const a2a = `${await serve(createA2AHandler(new Agent({ source })))}/a2a`;

describe('an endpoint of unknown protocol', () => {
  it.each([
    ['ag-ui', agUi],
    ['ui-message-stream', chat],
    ['mail', mail],
    ['a2a', a2a],
  ])('checks an endpoint of protocol %s', async (protocol, url) => {
    const io = testIO();
    expect(await checkStream({ input: url, prompt: 'Hello', json: true }, io)).toBe(0);
    expect(JSON.parse(io.stdout.text)).toMatchObject({ ok: true, protocol, framing: 'sse' });
  });

  it.each([
    ['ag-ui', agUi],
    ['ui-message-stream', chat],
    ['mail', mail],
  ])('records an endpoint of protocol %s and converts the tape', async (protocol, url) => {
    const file = newFile();
    expect(await record({ url, output: file, prompt: 'Hello', title: 'A test' }, testIO({ now: Date.now }))).toBe(0);
    const { header, items } = parseTape(readFileSync(file));
    expect(header).toMatchObject({ dialect: protocol, title: 'A test', prompt: 'Hello', source: `${url}/` });
    expect(items.length).toBeGreaterThan(3);
    const io = testIO();
    await convert({ input: file, to: 'canonical', json: true }, io);
    expect(JSON.parse(io.stderr.text)).toMatchObject({ from: protocol, runs: 1, cut: 0 });
  });
});

describe('a failing endpoint', () => {
  const check = (input: string, more: object = {}): Promise<number> =>
    checkStream({ input, json: true, ...more }, testIO());

  it('reports an endpoint that refuses connections', async () => {
    const url = 'http://127.0.0.1:1';
    const fetch = async (): Promise<Response> => {
      throw Object.assign(new TypeError('fetch failed'), {
        cause: Object.assign(new Error('refused'), { code: 'ECONNREFUSED' }),
      });
    };
    await expect(checkStream({ input: url }, testIO({ fetch }))).rejects.toMatchObject({
      exitCode: 3,
      message: `Cannot reach ${url}: connection refused.`,
      fix: expect.stringContaining('running'),
    });
  });

  it('times out if the endpoint never answers', async () => {
    const url = await serve(() => new Promise<Response>(() => undefined));
    await expect(check(url, { timeoutMs: 50 })).rejects.toMatchObject({
      exitCode: 3,
      message: expect.stringContaining('sent nothing for 0.05 s'),
    });
  });

  it('times out if the stream stalls, and reports the items before', async () => {
    const started = 'data: {"type":"RUN_STARTED","threadId":"t","runId":"r","protocolVersion":"1.0"}\n\n';
    const body = (): ReadableStream<Uint8Array> =>
      new ReadableStream({ start: (controller) => controller.enqueue(new TextEncoder().encode(started)) });
    const url = await serve(() => new Response(body(), { headers: { 'content-type': 'text/event-stream' } }));
    const io = testIO();
    expect(await checkStream({ input: url, json: true, timeoutMs: 100 }, io)).toBe(3);
    expect(JSON.parse(io.stdout.text)).toMatchObject({
      ok: false,
      items: 1,
      error: { fix: expect.stringContaining('--timeout') },
    });
  });

  it.each([
    [401, '--header'],
    [404, 'route'],
    [405, '--get'],
    [422, '--body'],
  ])('shows the body of a %i response with a fix', async (status, fix) => {
    const url = await serve(() => Response.json({ detail: 'No, because of you.' }, { status }));
    await expect(check(`${url}/agent`)).rejects.toMatchObject({
      exitCode: 3,
      message: expect.stringContaining('No, because of you.'),
      fix: expect.stringContaining(fix),
    });
  });

  it.each([
    ['ag-ui', agUi, ['threadId', 'runId', 'tools', 'context', 'state', 'forwardedProps', 'messages']],
    ['ui-message-stream', chat, ['id', 'trigger', 'messages']],
  ])('repeats a refused request in the format of %s', async (protocol, behind, known) => {
    const url = await serve(async (request) => {
      const body = (await request.json()) as object;
      const strange = Object.keys(body).filter((key) => !known.includes(key));
      if (strange.length > 0) return Response.json({ detail: `extra fields: ${strange.join()}` }, { status: 422 });
      return fetch(behind, {
        method: 'POST',
        body: JSON.stringify(body),
        headers: { 'content-type': 'application/json' },
      });
    });
    const io = testIO();
    expect(await checkStream({ input: url, json: true }, io)).toBe(0);
    expect(JSON.parse(io.stdout.text)).toMatchObject({ protocol });
  });

  it('suggests http:// for an address without a scheme', async () => {
    await expect(check('localhost:3000/api/chat')).rejects.toMatchObject({
      exitCode: 3,
      fix: expect.stringContaining('http://localhost:3000/api/chat'),
    });
  });

  it('reads an existing stream with --get, and sends headers and a body unchanged', async () => {
    const seen: string[] = [];
    const line =
      '{"type":"run-start","runId":"r","threadId":"t","messageId":"m"}\n{"type":"run-end","outcome":"complete"}\n';
    const url = await serve(async (request) => {
      seen.push(`${request.method} ${request.headers.get('x-key')} ${await request.text()}`);
      return new Response(line);
    });
    expect(await check(url, { get: true, headers: { 'x-key': '1' } })).toBe(0);
    expect(await check(url, { body: '{"a":1}' })).toBe(0);
    expect(seen).toEqual(['GET 1 ', 'POST null {"a":1}']);
  });
});

describe('replay', () => {
  async function start(options: {
    tapes: string[];
    as?: string;
  }): Promise<{ url: string; stop: () => Promise<number> }> {
    const stopper = new AbortController();
    const io = testIO({ signal: stopper.signal });
    const ended = replay({ speed: Infinity, quiet: true, ...options }, io);
    const listening = vi.waitUntil(() => io.stdout.text.startsWith('http'), { timeout: 10_000 });
    await Promise.race([listening, ended]);
    const stop = async (): Promise<number> => {
      stopper.abort();
      return ended;
    };
    return { url: io.stdout.text.trim(), stop };
  }
  const seen = async (input: string, more: object = {}): Promise<unknown> => {
    const io = testIO();
    const code = await checkStream({ input, json: true, ...more }, io);
    return { code, ...(JSON.parse(io.stdout.text) as object) };
  };

  it('answers in the protocol of the path, or in the protocol of --as for every path', async () => {
    const both = await start({ tapes: [tapeFile] });
    expect(await seen(`${both.url}/api/chat`)).toMatchObject({ code: 0, protocol: 'ui-message-stream' });
    expect(await seen(`${both.url}/api/ag-ui`)).toMatchObject({ code: 0, protocol: 'ag-ui' });
    expect(await seen(both.url)).toMatchObject({ code: 0, protocol: 'mail' });
    await expect(seen(`${both.url}/other`)).rejects.toMatchObject({ exitCode: 3 });
    expect(await both.stop()).toBe(0);
    const one = await start({ tapes: [tapeFile], as: 'ag-ui' });
    expect(await seen(`${one.url}/any/path`)).toMatchObject({ code: 0, protocol: 'ag-ui' });
    await one.stop();
  });

  it('serves a recorded MAIL stream as a MAIL server and as a chat route', async () => {
    const file = join(import.meta.dirname, '../../../mail/fixtures/03-delegate-action.sse');
    const { url, stop } = await start({ tapes: [file] });
    expect(await seen(url)).toMatchObject({ code: 0, protocol: 'mail' });
    expect(await seen(`${url}/api/chat`)).toMatchObject({ code: 0, protocol: 'ui-message-stream' });
    await stop();
  });

  it('allows pages of this machine to read responses, and no others', async () => {
    const { url, stop } = await start({ tapes: [tapeFile] });
    const allowed = async (origin: string): Promise<string | null> => {
      const response = await fetch(`${url}/api/chat`, { method: 'OPTIONS', headers: { origin } });
      return response.headers.get('access-control-allow-origin');
    };
    expect(await allowed('http://localhost:5173')).toBe('http://localhost:5173');
    expect(await allowed('https://example.com')).toBeNull();
    expect(await allowed('http://localhost.example.com')).toBeNull();
    await stop();
  });

  it('rejects unknown protocols and missing files', async () => {
    await expect(start({ tapes: [tapeFile], as: 'agui' })).rejects.toMatchObject({
      exitCode: 2,
      message: expect.stringContaining('ag-ui'),
    });
    await expect(start({ tapes: ['nowhere.jsonl'] })).rejects.toMatchObject({ exitCode: 3 });
  });
});
