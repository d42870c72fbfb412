import { createAGUIDecoder, createAGUIEncoder } from '@intertie/ag-ui';
import {
  createFullStreamDecoder,
  createLanguageModelV3Encoder,
  createUIMessageDecoder,
  createUIMessageEncoder,
} from '@intertie/ai-sdk';
import { arbitraryContinuation, arbitraryRun, type ArbitraryRun } from '@intertie/conformance/arbitraries';
import { seal, transcode, type AgentEvent, type Codec, type OnLoss, type RunInput } from '@intertie/core';
import { createResponsesDecoder, createResponsesEncoder } from '@intertie/openai';
import { createMAILDecoder } from '@intertie/mail';
import { createOpenHarnessDecoder } from '@intertie/open-harness';
import fc from 'fast-check';
import { expect, it } from 'vitest';

import { readCaptureFrames, captures } from '../packages/mail/test/captures.ts';
import { traces } from '../packages/open-harness/test/traces.ts';

/** Outputs of each type of input, with the number of inputs and of those that caused a loss. */
type Table = Map<string, { outputs: Map<string, number>; lost: number; seen: number }>;
type Make<In, Out> = (run: RunInput, onLoss: OnLoss) => Codec<In, Out>;

const getType = (frame: unknown): string => {
  const { type, event } = frame as { type?: string; event?: string };
  return (type ?? event ?? 'frame').replace(/^data-note.*/, 'data-*');
};

/** Feeds the inputs one by one, and records the outputs of each. */
function record<In, Out>(table: Table, codec: Codec<In, Out>, inputs: Iterable<In>, losses: { count: number }): Out[] {
  const all: Out[] = [];
  for (const input of inputs) {
    const before = losses.count;
    const caused: Out[] = [];
    codec.feed(input, (output) => void caused.push(output));
    // Output that the codec holds back for the next input belongs to this one.
    codec.flush?.((output) => void caused.push(output));
    const name = getType(input);
    const row = table.get(name) ?? { outputs: new Map<string, number>(), lost: 0, seen: 0 };
    table.set(name, row);
    row.seen += 1;
    if (losses.count > before) row.lost += 1;
    for (const type of new Set(caused.map(getType))) row.outputs.set(type, (row.outputs.get(type) ?? 0) + 1);
    all.push(...caused);
  }
  codec.end({ reason: 'eof' }, (output) => void all.push(output));
  return all;
}

function createTable<In, Out>(make: Make<In, Out>, runs: Iterable<{ run: RunInput; inputs: Iterable<In> }>) {
  const table: Table = new Map();
  const outputs: Array<{ run: RunInput; inputs: Out[] }> = [];
  for (const { run, inputs } of runs) {
    const losses = { count: 0 };
    outputs.push({
      run,
      inputs: record(
        table,
        make(run, () => void (losses.count += 1)),
        inputs,
        losses,
      ),
    });
  }
  return { table, outputs };
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

it('generates docs/protocols.md from the codecs', async () => {
  const runs = sampleRuns();
  const ui = createTable<AgentEvent, unknown>((_, onLoss) => createUIMessageEncoder({ onLoss }), runs);
  const agUi = createTable<AgentEvent, unknown>(
    (_, onLoss) => createAGUIEncoder({ protocolVersion: '1.0', onLoss }),
    runs,
  );
  const v3 = createTable<AgentEvent, unknown>((_, onLoss) => createLanguageModelV3Encoder({ onLoss }), runs);
  const openai = createTable<AgentEvent, unknown>(
    ({ runId, startedAt }, onLoss) =>
      createResponsesEncoder({ response: { id: runId, model: 'agent', createdAt: startedAt }, onLoss }),
    runs,
  );
  const fromOpenAI = createTable<unknown, AgentEvent>(
    (run, onLoss) => createResponsesDecoder(run, { onLoss }),
    openai.outputs,
  );
  const fromUI = createTable<unknown, AgentEvent>((run, onLoss) => createUIMessageDecoder(run, { onLoss }), ui.outputs);
  const fromAGUI = createTable<unknown, AgentEvent>((run, onLoss) => createAGUIDecoder(run, { onLoss }), agUi.outputs);
  const fromParts = createTable<unknown, AgentEvent>(
    (run, onLoss) => createFullStreamDecoder(run, { onLoss }),
    fullStreams(runs),
  );
  const run = runs[0]!.run;
  const swarms = captures.map((name) => ({ run, inputs: readCaptureFrames(name) }));
  const fromMAIL = createTable((of, onLoss) => createMAILDecoder(of, { onLoss }), swarms);
  const flows = traces.map(({ events }) => ({ run, inputs: events }));
  const fromFlow = createTable((of, onLoss) => createOpenHarnessDecoder(of, { onLoss }), flows);
  const page = [
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
      'UI message stream': ui.table,
      'AG-UI 1.0': agUi.table,
      LanguageModelV3: v3.table,
      'OpenAI Responses': openai.table,
    }),
    markdown('From a UI message stream', 'Events that one chunk produces.', { events: fromUI.table }),
    markdown('From `fullStream` of `streamText`', 'Events that one part produces.', { events: fromParts.table }),
    markdown('From AG-UI', 'Canonical events that one AG-UI event produces.', { events: fromAGUI.table }),
    markdown('From OpenAI Responses', 'Canonical events that one event of a response produces.', {
      events: fromOpenAI.table,
    }),
    markdown('From MAIL 1.3', 'Events that one frame of a recorded swarm produces.', { events: fromMAIL.table }),
    markdown('From Open Harness', 'Events that one event of a recorded runtime produces.', { events: fromFlow.table }),
  ].join('\n');
  await expect(`${page.trim()}\n`).toMatchFileSnapshot('../docs/protocols.md');
});

/** Converts the V3 model parts of each run to the parts of a `streamText` full stream. */
function fullStreams(runs: ReadonlyArray<{ run: RunInput; inputs: AgentEvent[] }>) {
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
