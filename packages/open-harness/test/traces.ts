import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { RuntimeEvent } from '../src/runtime/runtime-event.ts';
import type { RunSnapshot } from '../src/runtime/runtime.ts';

/** Recording of a real runtime: its events, and how `run()` ended. */
export interface Trace {
  name: string;
  events: RuntimeEvent[];
  /** Error message if `run()` was rejected. */
  thrown: string | undefined;
  snapshot: RunSnapshot | undefined;
}

const folder = join(import.meta.dirname, '../fixtures');

/** Reads the JSON lines of a fixture. */
export function readLines<Line>(file: string): Line[] {
  const text = readFileSync(join(folder, file), 'utf8').trim();
  return text.split('\n').map((line) => JSON.parse(line) as Line);
}

type Entry = { name: string; thrown: string | null; snapshot: RunSnapshot };
const index = JSON.parse(readFileSync(join(folder, 'index.json'), 'utf8')) as Entry[];

/** Recordings of the first generation, and two of the second without snapshots. */
export const traces: readonly Trace[] = [
  ...index.map(({ name, thrown, snapshot }) => ({
    name,
    events: readLines<RuntimeEvent>(`${name}.jsonl`),
    thrown: thrown ?? undefined,
    snapshot,
  })),
  ...['simple', 'pause-resume'].map((name) => ({
    name: `v0.2.0-${name}`,
    events: readLines<RuntimeEvent>(`v0.2.0-f863b09/${name}.jsonl`),
    thrown: undefined,
    snapshot: undefined,
  })),
];

export function findTrace(name: string): Trace {
  const trace = traces.find((known) => known.name.startsWith(name));
  if (trace === undefined) throw new Error(`No trace ${name}.`);
  return trace;
}
