import { createLanguageModelV3Encoder, fullStream } from '@intertie/ai-sdk';
import { arbitraryContinuation, arbitraryRun, type ArbitraryRun } from '@intertie/conformance/arbitraries';
import {
  seal,
  transcode,
  type AgentEvent,
  type Codec,
  type Loss,
  type OnLoss,
  type Protocol,
  type RunInput,
} from '@intertie/core';
import { CANONICAL, createItemClassifier } from '@intertie/core/internal';
import { mailProtocol } from '@intertie/mail';
import { openHarnessProtocol } from '@intertie/open-harness';
import fc from 'fast-check';
import { expect, it } from 'vitest';

import { readCaptureFrames, captures } from '../packages/mail/test/captures.ts';
import { traces } from '../packages/open-harness/test/traces.ts';
import { protocols } from '../packages/server/src/protocols.ts';
import { toyProtocol } from '../packages/server/test/toy/toy-protocol.ts';

/** Outputs of each type of input, with the number of inputs and of those that caused a loss. */
type Table = Map<string, { outputs: Map<string, number>; lost: number; seen: number }>;
type Runs<Input> = ReadonlyArray<{ run: RunInput; inputs: Iterable<Input> }>;
type Make<In, Out> = (run: RunInput, onLoss: OnLoss) => Codec<In, Out>;

const getType = (frame: unknown): string => {
  const { type, event, toy } = frame as { type?: string; event?: string; toy?: string };
  return (type ?? event ?? toy ?? 'frame').replace(/^data-note.*/, 'data-*');
};

/** Feeds the inputs one by one, and records the outputs of each. */
function record<In, Out>(table: Table, codec: Codec<In, Out>, inputs: Iterable<In>, losses: readonly Loss[]): Out[] {
  const all: Out[] = [];
  for (const input of inputs) {
    const before = losses.length;
    const caused: Out[] = [];
    codec.feed(input, (output) => void caused.push(output));
    // Output that the codec holds back for the next input belongs to this one.
    codec.flush?.((output) => void caused.push(output));
    const name = getType(input);
    const row = table.get(name) ?? { outputs: new Map<string, number>(), lost: 0, seen: 0 };
    table.set(name, row);
    row.seen += 1;
    if (losses.length > before) row.lost += 1;
    for (const type of new Set(caused.map(getType))) row.outputs.set(type, (row.outputs.get(type) ?? 0) + 1);
    all.push(...caused);
  }
  codec.end({ reason: 'eof' }, (output) => void all.push(output));
  return all;
}

function createTable<In, Out>(make: Make<In, Out>, runs: Runs<In>) {
  const table: Table = new Map();
  const losses: Loss[] = [];
  const outputs = runs.map(({ run, inputs }) => {
    const codec = make(run, (loss) => void losses.push(loss));
    return { run, inputs: record(table, codec, inputs, losses) };
  });
  return { table, outputs, losses };
}

/** Generates runs of every kind from a fixed seed. */
function sampleRuns(): Array<{ run: RunInput; inputs: AgentEvent[] }> {
  const options = { seed: 20, numRuns: 150 };
  const continued = fc
    .sample(arbitraryContinuation(), options)
    .flatMap(({ paused, continued: next }) => [paused, next]);
  const whole = ({ run, events, end }: ArbitraryRun): { run: RunInput; inputs: AgentEvent[] } => ({
    run,
    // Encoders withhold internal text between agents by default, so it is made public here.
    inputs: transcode(
      seal(run, () => undefined),
      events,
      end,
    ).map((event) => ('internal' in event ? toPublic(event) : event)),
  });
  return [...fc.sample(arbitraryRun(), options), ...continued].map(whole);
}

function toPublic(internal: Extract<AgentEvent, { internal?: true }>): AgentEvent {
  const { internal: _, ...event } = internal;
  return event;
}

/** Lists outputs that at least 1 % of the inputs cause. Rarer outputs come from ends and invalid input. */
function cell(table: Table, name: string): string {
  const row = table.get(name);
  if (!row) return '';
  const often = [...row.outputs].filter(([, count]) => count >= row.seen / 100).toSorted((a, b) => b[1] - a[1]);
  const types = often.map(([type, count]) => (count >= row.seen * 0.9 ? `\`${type}\`` : `(\`${type}\`)`)).join(' ');
  return `${types || '·'}${row.lost > 0 ? ' †' : ''}`;
}

function markdown(title: string, intro: string, tables: Record<string, Table>): string {
  const names = [...new Set(Object.values(tables).flatMap((table) => [...table.keys()]))].toSorted();
  const head = ['', ...Object.keys(tables)];
  const rows = names.map((name) => [`\`${name}\``, ...Object.values(tables).map((table) => cell(table, name))]);
  const line = (cells: string[]): string => `| ${cells.join(' | ')} |`;
  return [`## ${title}`, '', intro, '', line(head), line(head.map(() => '---')), ...rows.map(line), ''].join('\n');
}

/** Items of protocols without an encoder, or with recordings of real servers, by protocol. */
const recordings: { readonly [protocol: string]: (runs: Runs<AgentEvent>) => Runs<unknown> } = {
  [mailProtocol.name]: ([first]) => captures.map((name) => ({ run: first!.run, inputs: readCaptureFrames(name) })),
  [openHarnessProtocol.name]: ([first]) => traces.map(({ events }) => ({ run: first!.run, inputs: events })),
  [fullStream.name]: fullStreams,
};

/** Lists what an encoder reports as unsupported, with the first reason. */
function listUnsupported(label: string, losses: readonly Loss[]): string {
  const reasons = new Map<string, string>();
  for (const { kind, what, why } of losses) {
    if (kind === 'unsupported' && !reasons.has(what)) reasons.set(what, why);
  }
  const lines = [...reasons].map(([what, why]) => `- ${what}: ${why}`).toSorted();
  return [`### ${label}`, '', ...(lines.length > 0 ? lines : ['Nothing in the sample.']), ''].join('\n');
}

/** Creates the page of a list of protocols. */
function createPage(list: readonly Protocol[]): string {
  const runs = sampleRuns();
  const encoded = list
    .filter(({ name, encoder }) => encoder !== undefined && name !== CANONICAL)
    .map((protocol) => ({
      protocol,
      ...createTable<AgentEvent, unknown>((run, onLoss) => protocol.encoder!(run, onLoss), runs),
    }));
  const v3 = createTable<AgentEvent, unknown>((_, onLoss) => createLanguageModelV3Encoder({ onLoss }), runs);
  const decoded = list.flatMap((protocol) => {
    const { name, label, decoder } = protocol;
    const inputs = recordings[name]?.(runs) ?? encoded.find((each) => each.protocol === protocol)?.outputs;
    if (!decoder || !inputs) return [];
    const { table } = createTable<unknown, AgentEvent>((run, onLoss) => decoder(run, onLoss), inputs);
    return [markdown(`From ${label}`, 'Canonical events that one item produces.', { events: table })];
  });
  const columns = encoded.map(({ protocol, table }) => [protocol.label, table] as const);
  return [
    '# Protocols',
    '',
    'How canonical events map to each protocol, and back. `tests/protocols.test.ts` generates this page: a fixed set of random runs goes',
    'through the encoders, their output goes through the decoders, and recordings of real swarms and flows go through theirs.',
    '',
    '- `name`: nearly every event of this type (90 %) produces it. (`name`): only some do.',
    '- `·`: the event produces no output of its own. It affects later output, or the target cannot carry it.',
    '- †: some events of this type cause a [loss](concepts.md#losses).',
    '',
    markdown('From canonical events', 'Frames of the target that one event produces.', {
      ...Object.fromEntries(columns),
      LanguageModelV3: v3.table,
    }),
    '## What a protocol cannot carry',
    '',
    'Losses of the kind `unsupported` in the sample.',
    '',
    ...encoded.map(({ protocol, losses }) => listUnsupported(protocol.label, losses)),
    ...decoded,
  ].join('\n');
}

it('generates docs/protocols.md from the codecs', async () => {
  await expect(`${createPage(protocols).trim()}\n`).toMatchFileSnapshot('../docs/protocols.md');
});

it('documents a protocol that is only in the list', () => {
  const page = createPage([toyProtocol]);
  expect(page).toContain('|  | Toy | LanguageModelV3 |');
  expect(page).toContain('## From Toy');
});

it.each(
  protocols.filter(({ encoder, items }) => encoder && items).map((protocol) => [protocol.name, protocol] as const),
)('lists every kind of item that %s produces, for filters', (_, { encoder, items, getKind }) => {
  const { findFamily } = createItemClassifier([items]);
  const kinds = sampleRuns().flatMap(({ run, inputs }) =>
    transcode(
      encoder!(run, () => undefined),
      inputs,
    ).map(getKind),
  );
  expect([...new Set(kinds)].filter((kind) => findFamily(kind) === undefined)).toEqual([]);
});

/** Converts the V3 model parts of each run to the parts of a `streamText` full stream. */
function fullStreams(runs: Runs<AgentEvent>): Runs<unknown> {
  return runs.map(({ run, inputs }) => {
    const parts: Array<Record<string, unknown>> = [];
    const encoder = createLanguageModelV3Encoder();
    for (const event of inputs) encoder.feed(event, (part) => void parts.push({ ...part }));
    return {
      run,
      inputs: [{ type: 'start' }, { type: 'start-step', request: {}, warnings: [] }, ...parts.map(toFullStreamPart)],
    };
  });
}

function toFullStreamPart(part: Record<string, unknown>): Record<string, unknown> {
  const { type, delta, input, result, isError } = part;
  if (type === 'text-delta' || type === 'reasoning-delta') return { ...part, text: delta };
  if (type === 'tool-call') return { ...part, input: JSON.parse(String(input)) as unknown };
  if (type === 'tool-result' && isError) return { ...part, type: 'tool-error', error: result };
  if (type === 'tool-result') return { ...part, output: result };
  if (type === 'finish') return { ...part, type: 'finish-step', finishReason: 'stop', response: {} };
  return part;
}
