import { mkdtempSync, readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { check } from '@intertie/conformance';
import { foldEvents, parseTape, type AgentEvent, type CanonicalMessage } from '@intertie/core';
import { describe, expect, it } from 'vitest';
import { testIO, type TestIOOptions } from '../../../test/tool-io.ts';
import { convert, type ConvertOptions } from './convert.ts';
import { canRead, canWrite, createDialects, getDialectName } from '../formats/dialects.ts';
import { OutputClosed } from '../tool-error.ts';

const packages = join(import.meta.dirname, '../../../..');
const folder = (path: string, pattern: RegExp): string[] =>
  readdirSync(join(packages, path))
    .filter((name) => pattern.test(name))
    .map((name) => `${path}/${name}`);

/** What the other packages hold of real streams, and what they are. */
const fixtures: ReadonlyArray<readonly [file: string, dialect: string]> = [
  ...folder('mail/fixtures', /\.sse$/).map((file) => [file, 'mail'] as const),
  ...folder('open-harness/fixtures', /\.jsonl$/).map((file) => [file, 'open-harness'] as const),
  ...folder('open-harness/fixtures/v0.2.0-f863b09', /\.jsonl$/).map((file) => [file, 'open-harness'] as const),
  ...folder('open-harness/fixtures/head-4645c5d', /\.(?:jsonl|txt)$/).map((file) => [file, 'open-harness'] as const),
  ...folder('conformance/corpus', /\.tape\.jsonl$/).map((file) => [file, 'canonical'] as const),
];
const dialects = createDialects();
const writable = dialects.all.filter(canWrite).map(getDialectName);

type Ledger = {
  from: string;
  framing: string;
  items: number;
  runs: number;
  cut: number;
  lost: number;
  losses: Array<{ kind: string; what: string; count: number }>;
};
type Converted = { code: number; out: string; err: string; items: unknown[]; ledger: Ledger };

async function run(options: ConvertOptions, io: TestIOOptions = {}): Promise<Converted> {
  const world = testIO(io);
  const code = await convert({ input: '-', format: 'ndjson', json: true, ...options }, world);
  const { text: out } = world.stdout;
  const items = out.split('\n').flatMap((line): unknown[] => (line.startsWith('{') ? [JSON.parse(line)] : []));
  const err = world.stderr.text;
  return { code, out, err, items, ledger: options.json === false ? ({} as Ledger) : (JSON.parse(err) as Ledger) };
}

const violations = (dialect: string, items: unknown[]): string[] =>
  check(dialects.find(dialect).dialect, items).violations.map(({ rule, message }) => `${rule}: ${message}`);

/** What a person would see of a message: the words of each part, and the calls with their states. */
function shown(message: CanonicalMessage | undefined): string[] {
  const lines = (message?.content.parts ?? []).flatMap((part) => {
    if (part.type === 'text' && !part.internal) return [`text ${part.text}`];
    if (part.type === 'tool-invocation' && !part.internal)
      return [`${part.toolName} ${part.state} ${JSON.stringify(part.args)}`];
    return [];
  });
  return lines.toSorted();
}

const without = (one: CanonicalMessage | undefined, other: CanonicalMessage | undefined): string[] => {
  const there = shown(other);
  return shown(one).filter((line) => !there.includes(line));
};

/** The words of all texts, and the names of all tools: MAIL has one answer, and what was said before it comes back otherwise. */
function wordsOf(message: CanonicalMessage | undefined, withThoughts: boolean): string[] {
  const said = (message?.content.parts ?? []).flatMap((part) => {
    if (part.type === 'text') return part.text.split(/\s+/);
    if (part.type === 'reasoning') return withThoughts ? part.reasoning.split(/\s+/) : [];
    return part.type === 'tool-invocation' ? [part.toolName] : [];
  });
  return [...new Set(said)].filter(Boolean).toSorted();
}

describe.each(fixtures)('%s', (file, dialect) => {
  it.each(writable)('is a sound stream of %s, and comes back', async (to) => {
    const { items, ledger } = await run({ input: join(packages, file), to });
    expect(ledger.from).toBe(dialect);
    // The same dialect is passed on as it is, with what is wrong in it.
    expect(to === dialect ? [] : violations(to, items)).toEqual([]);

    const lines = items.map((item) => JSON.stringify(item)).join('\n');
    const back = await run({ from: to, to: 'canonical' }, { input: lines });
    expect(violations('canonical', back.items)).toEqual([]);
    const direct = await run({ input: join(packages, file), to: 'canonical' });
    const [told, whole] = [back, direct].map((one) => foldEvents(one.items as AgentEvent[]));
    // A continuation in AG-UI or MAIL says only what is new: its client has the message.
    const isPart =
      to !== 'ui-message-stream' && (direct.items[1] as AgentEvent | undefined)?.type === 'message-snapshot';
    const words = wordsOf(told, true);
    const missing =
      to === 'mail' ? wordsOf(whole, false).filter((word) => !words.includes(word)) : without(whole, told);
    expect(isPart ? [] : missing).toEqual([]);
    expect(to === 'mail' ? [] : without(told, whole)).toEqual([]);
  });
});

describe('a conversion', () => {
  const tape = join(packages, 'conformance/corpus/swarm-asks.tape.jsonl');
  const flow = join(packages, 'open-harness/fixtures/03-tool-use.jsonl');

  it('is the same whatever the framing, and however the bytes are cut', async () => {
    const sse = await run({ input: flow, to: 'ag-ui', format: 'sse', json: false, quiet: true });
    const bytes = new TextEncoder().encode(sse.out);
    const pieces = Array.from({ length: bytes.length }, (_, index) => bytes.subarray(index, index + 1));
    const whole = await run({ to: 'canonical' }, { input: sse.out });
    const cut = await run({ to: 'canonical' }, { input: pieces });
    expect(cut.out).toBe(whole.out);
    const taped = await run({ input: flow, to: 'ag-ui', format: 'tape', json: false });
    const { header, items } = parseTape(taped.out);
    expect(header.dialect).toBe('ag-ui');
    expect(items.at(-1)!.t).toBeGreaterThan(0);
    expect((await run({ to: 'canonical' }, { input: taped.out })).out).toBe(whole.out);
  });

  it('ends a UI message stream as clients expect it', async () => {
    const { out } = await run({ input: flow, to: 'ui-message-stream', format: 'sse', json: false });
    expect(out.endsWith('data: [DONE]\n\n')).toBe(true);
    expect(violations('ui-message-stream', (await run({ to: 'ui-message-stream' }, { input: out })).items)).toEqual([]);
  });

  it('to the same dialect changes the framing, and nothing else', async () => {
    const { items } = await run({ input: tape, to: 'canonical' });
    expect(items).toEqual(parseTape(readFileSync(tape)).items.map(({ item }) => item));
    const mail = join(packages, 'mail/fixtures/01-simple.sse');
    const lines = await run({ input: mail, to: 'mail' });
    const back = await run({ to: 'mail', format: 'sse', json: false }, { input: lines.out });
    expect(back.out.trim()).toBe(readFileSync(mail, 'utf8').replaceAll('\r\n', '\n').trim());
  });

  it('takes one run after the other', async () => {
    const { out } = await run({ input: flow, to: 'ag-ui' });
    const { items, ledger } = await run({ to: 'canonical' }, { input: out + out });
    expect(ledger.runs).toBe(2);
    expect(items.filter((item) => (item as AgentEvent).type === 'run-start')).toHaveLength(2);
    const chunks = (await run({ input: flow, to: 'ui-message-stream', format: 'sse', json: false })).out;
    expect((await run({ to: 'ag-ui' }, { input: chunks + chunks })).ledger).toMatchObject({ runs: 2, cut: 0 });
  });

  it('of a run that was cut off is closed, and says so', async () => {
    const { out } = await run({ input: flow, to: 'ag-ui' });
    const half = out.split('\n').slice(0, 12).join('\n');
    const { items, ledger, code } = await run({ to: 'canonical', strict: true }, { input: half });
    expect([ledger.cut, code]).toEqual([1, 1]);
    expect(items.at(-1)).toMatchObject({ type: 'run-end', outcome: 'error', error: { code: 'truncated' } });
    expect(violations('canonical', items)).toEqual([]);
    const told = await run({ to: 'canonical', json: false }, { input: half });
    expect(told.err).toContain('The input ends before its run does');
  });

  it('leaves out what cannot be read, and says where it was', async () => {
    const { out } = await run({ input: flow, to: 'ag-ui' });
    const [first, ...rest] = out.split('\n');
    const { ledger, items } = await run({ to: 'canonical' }, { input: [first, '{"type":', ...rest].join('\n') });
    expect(ledger.losses).toContainEqual(
      expect.objectContaining({ kind: 'repaired', why: expect.stringContaining('Line 2') }),
    );
    expect(violations('canonical', items)).toEqual([]);
  });

  it('writes a ledger that people can read', async () => {
    const { err, out } = await run({
      input: join(packages, 'mail/fixtures/03-delegate-action.sse'),
      to: 'ag-ui',
      json: false,
    });
    expect(err).toContain('5 things did not get through from mail to ag-ui:');
    expect(err).toContain('2 × text-start  Messages between agents are not sent.');
    expect(out).not.toContain('did not get through');
  });

  it('goes to a file whose name says the format', async () => {
    const file = join(mkdtempSync(join(tmpdir(), 'intertie-')), 'a.tape.jsonl');
    await convert({ input: flow, to: 'ui-message-stream', output: file, quiet: true }, testIO());
    expect(parseTape(readFileSync(file)).header).toMatchObject({
      dialect: 'ui-message-stream',
      source: 'open-harness',
    });
  });

  it('stops where nobody reads any more', async () => {
    let written = 0;
    const stdout = {
      isTerminal: false,
      columns: 80,
      text: '',
      write: () => {
        if (written++ > 0) throw new OutputClosed();
      },
    };
    const { out } = await run({ input: flow, to: 'ag-ui' });
    let asked = 0;
    const endless = {
      *[Symbol.iterator]() {
        for (;;) {
          asked++;
          yield `${out}\n`;
        }
      },
    };
    await expect(convert({ to: 'canonical', input: '-' }, testIO({ input: endless, stdout }))).rejects.toThrow(
      OutputClosed,
    );
    expect(asked).toBeLessThan(5);
  });

  it('waits for a slow reader', async () => {
    let open = 0;
    let most = 0;
    const stdout = {
      isTerminal: false,
      columns: 80,
      text: '',
      write: async () => {
        most = Math.max(most, ++open);
        await new Promise((resolve) => setImmediate(resolve));
        open--;
      },
    };
    const { out } = await run({ input: flow, to: 'ag-ui' });
    await convert(
      { to: 'canonical', input: '-', quiet: true },
      testIO({ input: Array.from({ length: 20 }, () => `${out}\n`), stdout }),
    );
    expect(most).toBe(1);
  });
});

describe('what cannot be done is said, with what can', () => {
  it.each([
    ['a dialect that is not there', { to: 'ag-uii' }, 2, /Did you mean “ag-ui”/],
    ['another name for one', { to: 'vercel' }, 2, /no dialect “vercel”/],
    ['one that is only read', { to: 'open-harness', from: 'ag-ui' }, 2, /can be read, but not written/],
    ['a history', { to: 'ag-ui', from: 'model-messages' }, 2, /is a history/],
    ['a format', { to: 'ag-ui', format: 'yaml' }, 2, /no output format/],
    ['an input format', { to: 'ag-ui', inputFormat: 'yaml' }, 2, /no input format/],
    ['a file that is not there', { to: 'ag-ui', input: join(packages, 'server/package.jsn') }, 3, /There is no file/],
    ['a folder', { to: 'ag-ui', input: packages }, 3, /is a folder/],
  ])('%s', async (_, options, exitCode, message) => {
    await expect(run(options)).rejects.toMatchObject({ exitCode, message: expect.stringMatching(message) });
  });

  it('a file beside the one that is not there', async () => {
    await expect(run({ to: 'ag-ui', input: join(packages, 'server/package.jsn') })).rejects.toMatchObject({
      fix: expect.stringContaining('package.json beside it'),
    });
  });

  it('every dialect but the history is read', () => {
    expect(dialects.all.filter((known) => !canRead(known)).map(getDialectName)).toEqual(['model-messages']);
  });
});
