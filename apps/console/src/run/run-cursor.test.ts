import { readFileSync } from 'node:fs';
import { arbitraryRun } from '@intertie/conformance/arbitraries';
import { foldEvents, parseTape, seal, transcode, type AgentEvent } from '@intertie/core';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { LogEntry } from '../inspect-types.ts';
import { RunCursor } from './run-cursor.ts';

const path = new URL('../../../../packages/conformance/corpus/swarm-asks.tape.jsonl', import.meta.url);
const events = parseTape(readFileSync(path, 'utf8')).items.map(({ item }) => item as unknown as AgentEvent);

const toEntries = (list: readonly AgentEvent[]): LogEntry[] =>
  list.map((event, index) => ({ id: `1.${index + 1}`, event }));
const entries = toEntries(events);

function createCursor(list: readonly LogEntry[], interval?: number): RunCursor {
  const cursor = new RunCursor(interval);
  cursor.setEntries(list);
  return cursor;
}

describe('RunCursor', () => {
  it('returns the fold of the first n events, stepping backward and forward', () => {
    const cursor = createCursor(entries);
    for (let n = events.length; n >= 0; n--) expect(cursor.messageAt(n)).toEqual(foldEvents(events.slice(0, n)));
    for (let n = 0; n <= events.length; n++) expect(cursor.messageAt(n)).toEqual(foldEvents(events.slice(0, n)));
  });

  it('returns the fold of the first n events for random jumps', () => {
    const positions = fc.array(fc.nat(200), { minLength: 1, maxLength: 12 });
    fc.assert(
      fc.property(
        arbitraryRun(),
        positions,
        fc.integer({ min: 1, max: 9 }),
        ({ run, events: raw, end }, to, interval) => {
          const sealed = transcode(
            seal(run, () => undefined),
            raw,
            end,
          );
          const cursor = createCursor(toEntries(sealed), interval);
          for (const n of to) expect(cursor.messageAt(n)).toEqual(foldEvents(sealed.slice(0, n)));
        },
      ),
    );
  });

  it('does not change a message after returning it', () => {
    const cursor = createCursor(entries);
    const early = cursor.messageAt(20);
    const copy = structuredClone(early);
    cursor.messageAt(events.length);
    expect(early).toEqual(copy);
  });

  it('accepts more entries of the same run', () => {
    const cursor = createCursor(entries.slice(0, 100));
    cursor.messageAt(100);
    cursor.setEntries(entries);
    expect(cursor.messageAt(events.length)).toEqual(foldEvents(events));
  });

  it('starts over for another run and after a log reset', () => {
    const cursor = createCursor(entries);
    cursor.messageAt(entries.length);
    const other: AgentEvent[] = [
      { type: 'run-start', runId: 'r', threadId: 't', messageId: 'm' },
      { type: 'text-start', id: 'x' },
      { type: 'text-delta', id: 'x', delta: 'Hi' },
    ];
    cursor.setEntries(toEntries(other));
    expect(cursor.messageAt(3)).toEqual(foldEvents(other));
    cursor.setEntries(toEntries(events));
    expect(cursor.messageAt(30)).toEqual(foldEvents(events.slice(0, 30)));
  });
});
