import { mkdtempSync, readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { check } from '@intertie/conformance';
import { foldEvents, parseTape, type AgentEvent, type CanonicalMessage } from '@intertie/core';
import { describe, expect, it } from 'vitest';
import { testIO, type TestIOOptions } from '../../../test/tool-io.ts';
import { convert, type ConvertOptions } from './convert.ts';
import { canRead, canWrite, createProtocolList } from '../formats/protocol-list.ts';
import { OutputClosed } from '../tool-error.ts';

const packages = join(import.meta.dirname, '../../../..');
const folder = (path: string, pattern: RegExp): string[] =>
  readdirSync(join(packages, path))
    .filter((name) => pattern.test(name))
    .map((name) => `${path}/${name}`);

/** Recorded streams of the other packages, with their protocols. */
const fixtures: ReadonlyArray<readonly [file: string, protocol: string]> = [
  ...folder('mail/fixtures', /\.sse$/).map((file) => [file, 'mail'] as const),
  ...folder('open-harness/fixtures', /\.jsonl$/).map((file) => [file, 'open-harness'] as const),
  ...folder('open-harness/fixtures/v0.2.0-f863b09', /\.jsonl$/).map((file) => [file, 'open-harness'] as const),
  ...folder('open-harness/fixtures/head-4645c5d', /\.(?:jsonl|txt)$/).map((file) => [file, 'open-harness'] as const),
  ...folder('conformance/corpus', /\.tape\.jsonl$/).map((file) => [file, 'canonical'] as const),
];
const protocols = createProtocolList();
const writable = protocols.all.filter(canWrite).map(({ name }) => name);

type LossReport = {
  from: string;
  framing: string;
  items: number;
  runs: number;
  cut: number;
  lost: number;
  losses: Array<{ kind: string; what: string; count: number }>;
};
type Converted = { code: number; out: string; err: string; items: unknown[]; lossReport: LossReport };

async function run(options: ConvertOptions, io: TestIOOptions = {}): Promise<Converted> {
  const world = testIO(io);
  const code = await convert({ input: '-', format: 'ndjson', json: true, ...options }, world);
  const { text: out } = world.stdout;
  const items = out.split('\n').flatMap((line): unknown[] => (line.startsWith('{') ? [JSON.parse(line)] : []));
  const err = world.stderr.text;
  return {
    code,
    out,
    err,
    items,
    lossReport: options.json === false ? ({} as LossReport) : (JSON.parse(err) as LossReport),
  };
}

const violations = (protocol: string, items: unknown[]): string[] =>
  check(protocols.find(protocol), items).violations.map(({ rule, message }) => `${rule}: ${message}`);

/** Visible content of a message: the text of each part, and the calls with their states. */
function shown(message: CanonicalMessage | undefined): string[] {
  const lines = (message?.content.parts ?? []).flatMap((part) => {
    if (part.type === 'text' && !part.internal) return [`text ${part.text}`];
    if (part.type === 'tool-invocation' && !part.internal)
      return [`${part.toolName} ${part.state} ${JSON.stringify(part.args)}`];
    return [];
  });
  return lines.toSorted();
}

const findMissing = (one: CanonicalMessage | undefined, other: CanonicalMessage | undefined): string[] => {
  const there = shown(other);
  return shown(one).filter((line) => !there.includes(line));
};

/** Protocols without a place for tools. They report calls and results as losses. */
const withoutTools: ReadonlySet<string> = new Set(['a2a']);

/**
 * Calls and results of a run and of the message that it continues, as the losses of a protocol without tools. Calls that the client
 * executes are requests for input there.
 */
function countTools(events: readonly AgentEvent[]): { [what: string]: number } {
  const calls = events.flatMap((event) => {
    if (event.type === 'message-snapshot')
      return event.content.parts.flatMap((part) => (part.type === 'tool-invocation' ? [part.toolCallId] : []));
    const isCall = event.type === 'tool-call' || event.type === 'tool-input-start';
    return isCall && event.executor !== 'client' ? [event.toolCallId] : [];
  });
  return {
    'tool call': new Set(calls).size,
    'tool result': events.filter(({ type }) => type === 'tool-result').length,
  };
}

const countLosses = ({ losses }: LossReport, what: string): number =>
  losses.filter((loss) => loss.what === what).reduce((sum, { count }) => sum + count, 0);

/** Words of all texts, and names of all tools. MAIL has one answer, so earlier texts come back in another form. */
function getWords(message: CanonicalMessage | undefined, withReasoning: boolean): string[] {
  const words = (message?.content.parts ?? []).flatMap((part) => {
    if (part.type === 'text') return part.text.split(/\s+/);
    if (part.type === 'reasoning') return withReasoning ? part.reasoning.split(/\s+/) : [];
    return part.type === 'tool-invocation' ? [part.toolName] : [];
  });
  return [...new Set(words)].filter(Boolean).toSorted();
}

describe.each(fixtures)('%s', (file, protocol) => {
  it.each(writable)('converts to a valid stream of %s and back', async (to) => {
    const { items, lossReport } = await run({ input: join(packages, file), to });
    expect(lossReport.from).toBe(protocol);
    // The same protocol is copied, including its violations.
    expect(to === protocol ? [] : violations(to, items)).toEqual([]);

    const lines = items.map((item) => JSON.stringify(item)).join('\n');
    const back = await run({ from: to, to: 'canonical' }, { input: lines });
    expect(violations('canonical', back.items)).toEqual([]);
    const direct = await run({ input: join(packages, file), to: 'canonical' });
    const [restored, whole] = [back, direct].map((one) => foldEvents(one.items as AgentEvent[]));
    const hasTools = !withoutTools.has(to);
    for (const [what, count] of Object.entries(hasTools ? {} : countTools(direct.items as AgentEvent[]))) {
      expect([what, countLosses(lossReport, what)]).toEqual([what, count]);
    }
    // A continuation in AG-UI or MAIL contains only new content: its client has the message.
    const isPart =
      !['ui-message-stream', 'a2a'].includes(to) &&
      (direct.items[1] as AgentEvent | undefined)?.type === 'message-snapshot';
    const restoredWords = getWords(restored, true);
    const missing =
      to === 'mail'
        ? getWords(whole, false).filter((word) => !restoredWords.includes(word))
        : findMissing(whole, restored).filter((line) => hasTools || line.startsWith('text '));
    expect(isPart ? [] : missing).toEqual([]);
    expect(to === 'mail' ? [] : findMissing(restored, whole)).toEqual([]);
  });
});

describe('convert', () => {
  const tape = join(packages, 'conformance/corpus/swarm-asks.tape.jsonl');
  const flow = join(packages, 'open-harness/fixtures/03-tool-use.jsonl');

  it('produces the same output for every framing and chunking of the input', async () => {
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

  it('ends a UI message stream with [DONE]', async () => {
    const { out } = await run({ input: flow, to: 'ui-message-stream', format: 'sse', json: false });
    expect(out.endsWith('data: [DONE]\n\n')).toBe(true);
    expect(violations('ui-message-stream', (await run({ to: 'ui-message-stream' }, { input: out })).items)).toEqual([]);
  });

  it('changes only the framing for the same protocol', async () => {
    const { items } = await run({ input: tape, to: 'canonical' });
    expect(items).toEqual(parseTape(readFileSync(tape)).items.map(({ item }) => item));
    const mail = join(packages, 'mail/fixtures/01-simple.sse');
    const lines = await run({ input: mail, to: 'mail' });
    const back = await run({ to: 'mail', format: 'sse', json: false }, { input: lines.out });
    expect(back.out.trim()).toBe(readFileSync(mail, 'utf8').replaceAll('\r\n', '\n').trim());
  });

  it('converts consecutive runs', async () => {
    const { out } = await run({ input: flow, to: 'ag-ui' });
    const { items, lossReport } = await run({ to: 'canonical' }, { input: out + out });
    expect(lossReport.runs).toBe(2);
    expect(items.filter((item) => (item as AgentEvent).type === 'run-start')).toHaveLength(2);
    const chunks = (await run({ input: flow, to: 'ui-message-stream', format: 'sse', json: false })).out;
    expect((await run({ to: 'ag-ui' }, { input: chunks + chunks })).lossReport).toMatchObject({ runs: 2, cut: 0 });
  });

  it('closes and reports a truncated run', async () => {
    const { out } = await run({ input: flow, to: 'ag-ui' });
    const half = out.split('\n').slice(0, 12).join('\n');
    const { items, lossReport, code } = await run({ to: 'canonical', strict: true }, { input: half });
    expect([lossReport.cut, code]).toEqual([1, 1]);
    expect(items.at(-1)).toMatchObject({ type: 'run-end', outcome: 'error', error: { code: 'truncated' } });
    expect(violations('canonical', items)).toEqual([]);
    const { err } = await run({ to: 'canonical', json: false }, { input: half });
    expect(err).toContain('The input ends before its run');
  });

  it('leaves out unreadable items and reports their line', async () => {
    const { out } = await run({ input: flow, to: 'ag-ui' });
    const [first, ...rest] = out.split('\n');
    const { lossReport, items } = await run({ to: 'canonical' }, { input: [first, '{"type":', ...rest].join('\n') });
    expect(lossReport.losses).toContainEqual(
      expect.objectContaining({ kind: 'repaired', why: expect.stringContaining('Line 2') }),
    );
    expect(violations('canonical', items)).toEqual([]);
  });

  it('prints a readable loss report', async () => {
    const { err, out } = await run({
      input: join(packages, 'mail/fixtures/03-delegate-action.sse'),
      to: 'ag-ui',
      json: false,
    });
    expect(err).toContain('5 losses from mail to ag-ui:');
    expect(err).toContain('2 × text-start  Messages between agents are not sent.');
    expect(out).not.toContain('losses from');
  });

  it('writes a file in the format of its extension', async () => {
    const file = join(mkdtempSync(join(tmpdir(), 'intertie-')), 'a.tape.jsonl');
    await convert({ input: flow, to: 'ui-message-stream', output: file, quiet: true }, testIO());
    expect(parseTape(readFileSync(file)).header).toMatchObject({
      dialect: 'ui-message-stream',
      source: 'open-harness',
    });
  });

  it('stops reading when the output is closed', async () => {
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

  it('applies backpressure of the output', async () => {
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

describe('invalid arguments', () => {
  it.each([
    ['a misspelled protocol', { to: 'ag-uii' }, 2, /Did you mean “ag-ui”/],
    ['an unknown protocol', { to: 'vercel' }, 2, /Unknown protocol “vercel”/],
    ['a protocol without an encoder', { to: 'open-harness', from: 'ag-ui' }, 2, /can be read, but not written/],
    ['a history', { to: 'ag-ui', from: 'model-messages' }, 2, /is a history/],
    ['an unknown format', { to: 'ag-ui', format: 'yaml' }, 2, /not an output format/],
    ['an unknown input format', { to: 'ag-ui', inputFormat: 'yaml' }, 2, /not an input format/],
    ['a missing file', { to: 'ag-ui', input: join(packages, 'server/package.jsn') }, 3, /does not exist/],
    ['a folder', { to: 'ag-ui', input: packages }, 3, /is a folder/],
  ])('rejects %s', async (_, options, exitCode, message) => {
    await expect(run(options)).rejects.toMatchObject({ exitCode, message: expect.stringMatching(message) });
  });

  it('suggests a file with a similar name', async () => {
    await expect(run({ to: 'ag-ui', input: join(packages, 'server/package.jsn') })).rejects.toMatchObject({
      fix: expect.stringContaining('package.json'),
    });
  });

  it('reads every protocol except histories', () => {
    expect(protocols.all.filter((known) => !canRead(known)).map(({ name }) => name)).toEqual(['model-messages']);
  });
});
