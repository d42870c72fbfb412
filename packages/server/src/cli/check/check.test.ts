import { describe, expect, it } from 'vitest';
import { defects, uncovered } from '../../../test/defects.ts';
import { bufferSink, testIO } from '../../../test/tool-io.ts';
import { checkStream, type CheckOptions } from './check.ts';

const sse = (items: readonly unknown[]): string => items.map((item) => `data: ${JSON.stringify(item)}\n\n`).join('');
const lines = (items: readonly unknown[]): string => items.map((item) => `${JSON.stringify(item)}\n`).join('');

type Report = {
  ok: boolean;
  protocol: string;
  framing: string;
  items: number;
  streams: number;
  rules: Array<{ rule: string; count: number; findings: Array<{ item?: number; line?: number; text: string }> }>;
};

async function checked(input: string, options: CheckOptions = {}): Promise<{ code: number; report: Report }> {
  const io = testIO({ input });
  const code = await checkStream({ input: '-', json: true, ...options }, io);
  return { code, report: JSON.parse(io.stdout.text) as Report };
}

const good = [
  { type: 'RUN_STARTED', threadId: 't', runId: 'r', protocolVersion: '1.0' },
  { type: 'TEXT_MESSAGE_START', messageId: 'm', role: 'assistant' },
  { type: 'TEXT_MESSAGE_CONTENT', messageId: 'm', delta: 'Hi' },
  { type: 'TEXT_MESSAGE_END', messageId: 'm' },
  { type: 'RUN_FINISHED', threadId: 't', runId: 'r' },
];

describe('a planted defect', () => {
  const table = Object.entries(defects).flatMap(([protocol, list]) =>
    list.map(([rule, items]) => [protocol, rule, items] as const),
  );

  it.each(table)('reports a defect of %s as a violation of %s', async (protocol, rule, items) => {
    // MAIL frames have event names outside their data, so they are sent as lines.
    const text = protocol === 'mail' || protocol === 'model-messages' ? lines(items) : sse(items);
    // Only ai 7 has the chunk that answers an approval.
    const { code, report } = await checked(text, {
      as: protocol,
      variants: { 'ui-version': rule === 'T5-approval' ? '7' : '6' },
    });
    expect(report.rules.map((broken) => broken.rule)).toContain(rule);
    expect([code, report.ok]).toEqual([1, false]);
  });

  it('has a planted defect for every rule', () => {
    expect(uncovered(), 'add a defect for the new rule to test/defects.ts').toEqual([]);
  });

  it.each([
    ['frame-json', `${sse(good.slice(0, 2))}data: {"type":\n\n${sse(good.slice(2))}`],
    ['frame-cut', sse(good).slice(0, -1)],
    ['frame-cut', sse(good).slice(0, -12)],
  ])('reports a framing defect as a violation of %s', async (rule, text) => {
    const { code, report } = await checked(text);
    expect([code, report.rules.map((broken) => broken.rule)]).toEqual([1, expect.arrayContaining([rule])]);
  });

  it('reports an encoding defect as a violation of frame-utf8', async () => {
    const io = testIO({ input: [sse(good.slice(0, 3)), new Uint8Array([0x64, 0x61, 0xff, 0x0a]), sse(good.slice(3))] });
    expect(await checkStream({ input: '-', json: true }, io)).toBe(1);
    expect((JSON.parse(io.stdout.text) as Report).rules.map(({ rule }) => rule)).toContain('frame-utf8');
  });
});

describe('detection', () => {
  const chunks = [{ type: 'start' }, { type: 'start-step' }, { type: 'finish-step' }, { type: 'finish' }];
  const parts = [
    { type: 'start' },
    { type: 'start-step', request: {}, warnings: [] },
    { type: 'text-start', id: '0' },
    { type: 'text-delta', id: '0', text: 'Hi' },
    { type: 'finish', finishReason: 'stop', totalUsage: {} },
  ];
  it.each([
    ['ag-ui', 'sse', sse(good)],
    ['ag-ui', 'ndjson', lines(good)],
    ['ag-ui', 'tape', `{"tape":1,"dialect":"ag-ui"}\n${lines(good.map((item, t) => ({ t, item })))}`],
    ['ag-ui', 'json', JSON.stringify(good, undefined, 2)],
    ['ag-ui', 'sse', sse(good).replaceAll('\n', '\r\n')],
    ['ui-message-stream', 'sse', `${sse(chunks)}data: [DONE]\n\n`],
    ['ai-sdk', 'ndjson', lines(parts)],
    [
      'canonical',
      'ndjson',
      lines([
        { type: 'run-start', runId: 'r', threadId: 't', messageId: 'm' },
        { type: 'text-start', id: 'a' },
      ]),
    ],
    ['model-messages', 'json', '[{"role":"user","content":"hi"}]'],
    ['model-messages', 'json', '{"messages":[{"role":"user","content":"hi"}]}'],
    ['model-messages', 'json', JSON.stringify({ messages: [{ role: 'user', content: 'hi' }] }, undefined, 2)],
    ['mail', 'sse', ': hello\n\nevent: task_complete\ndata: {"task_id":"t","response":"x"}\n\n'],
    ['open-harness', 'sse', 'event: x\ndata: {"name":"workflow:started","payload":{}}\n\n'],
  ])('detects %s in %s', async (protocol, framing, text) => {
    const { report } = await checked(text);
    expect([report.protocol, report.framing]).toEqual([protocol, framing]);
  });

  it.each([
    ['an empty input', '', /empty/],
    ['a web page', '<!DOCTYPE html>\n<html>', /web page/],
    ['the data stream of AI SDK 4', '0:"Hello"\n', /AI SDK 4/],
    ['plain text', 'Hello there\n', /neither/],
    ['unknown JSON', '{"a":1}\n{"a":2}\n', /unknown protocol/],
    ['an error response', '{"error":"no"}', /error response/],
    ['OpenAI', 'data: {"object":"chat.completion.chunk","choices":[]}\n\n', /OpenAI chat completions/],
    [
      'Anthropic',
      'event: message_start\ndata: {"type":"message_start"}\n\nevent: ping\ndata: {"type":"ping"}\n\n',
      /Anthropic messages/,
    ],
    ['an endless unknown stream', '{"a":1}\n'.repeat(100_000), /unknown protocol/],
  ])('rejects %s with a reason', async (_, text, reason) => {
    await expect(checked(text)).rejects.toMatchObject({ exitCode: 3, message: expect.stringMatching(reason) });
  });

  it('checks several streams of an input separately', async () => {
    const run = [
      { type: 'run-start', runId: 'r', threadId: 't', messageId: 'm' },
      { type: 'run-end', outcome: 'complete' },
    ];
    expect((await checked(lines([...run, ...run, ...run]))).report).toMatchObject({ ok: true, streams: 3, items: 6 });
    const message = `${sse([{ type: 'start', messageId: 'm' }, { type: 'finish' }])}data: [DONE]\n\n`;
    expect((await checked(message + message)).report).toMatchObject({ ok: true, streams: 2 });
  });
});

describe('the text report', () => {
  async function report(input: string, options: CheckOptions = {}, stdout = bufferSink()): Promise<string> {
    const io = testIO({ input, stdout });
    await checkStream({ input: '-', ...options }, io);
    return stdout.text;
  }
  const wrong = sse([...good.slice(0, 2), { ...good[2], messageId: 'other' }, ...good.slice(3)]);

  it('shows the rule, the place, the item and the fix', async () => {
    const text = await report(wrong);
    expect(text).toContain('ag-ui: AG-UI events');
    expect(text).toContain('✗ text-known  Content and end of a text name an open one.');
    expect(text).toContain('item 3, line 5: TEXT_MESSAGE_CONTENT names other, which is not open.');
    expect(text).toContain('› {"type":"TEXT_MESSAGE_CONTENT","messageId":"other","delta":"Hi"}');
    expect(text).toContain('fix  Send TEXT_MESSAGE_START with that id first.');
    expect(text).toContain('1 violation of 1 rule.');
  });

  it('shows the first places and counts the others', async () => {
    const text = await report(sse([good[0], ...Array.from({ length: 9 }, () => good[2]), good[4]]));
    expect(text).toContain('(9 times)');
    expect(text).toContain('… and 6 more; --max 9 shows them all');
  });

  it('suggests another protocol', async () => {
    expect(await report(sse(good), { as: 'ui-message-stream' })).toContain('To check that: --as ag-ui');
  });

  it('uses colours in terminals only, and escapes those of the input', async () => {
    const escape = String.fromCodePoint(27);
    const coloured = sse([good[0], { type: 'X', text: `${escape}[31m` }]).replaceAll(String.raw`\u001b`, escape);
    expect(await report(coloured)).not.toContain(escape);
    expect(await report(wrong, {}, bufferSink({ isTerminal: true }))).toContain(escape);
  });
});

it('suggests the nearest protocol for an unknown one', async () => {
  await expect(checked('', { as: 'agui-ui' })).rejects.toMatchObject({
    exitCode: 2,
    message: expect.stringContaining('ag-ui'),
  });
  await expect(checkStream({}, testIO({ isTerminal: true }))).rejects.toMatchObject({ exitCode: 2 });
});
