import { readFileSync } from 'node:fs';
import { arbitraryRun } from '@intertie/conformance/arbitraries';
import { foldEvents, parseTape, seal, transcode, type AgentEvent } from '@intertie/core';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { LogEntry } from './inspect-types.ts';
import { RunCursor } from './run-cursor.ts';

const path = new URL('../../../packages/conformance/corpus/swarm-asks.tape.jsonl', import.meta.url);
const events = parseTape(readFileSync(path, 'utf8')).items.map(({ item }) => item as unknown as AgentEvent);

const logged = (list: readonly AgentEvent[]): LogEntry[] =>
  list.map((event, index) => ({ id: `1.${index + 1}`, event }));
const entries = logged(events);

function cursorOver(list: readonly LogEntry[], every?: number): RunCursor {
  const cursor = new RunCursor(every);
  cursor.turnTo(list);
  return cursor;
}

describe('RunCursor', () => {
  it('shows at every place what a fold of the events before it makes, whichever way it goes', () => {
    const cursor = cursorOver(entries);
    for (let n = events.length; n >= 0; n--) expect(cursor.messageAt(n)).toEqual(foldEvents(events.slice(0, n)));
    for (let n = 0; n <= events.length; n++) expect(cursor.messageAt(n)).toEqual(foldEvents(events.slice(0, n)));
  });

  it('jumps', () => {
    const places = fc.array(fc.nat(200), { minLength: 1, maxLength: 12 });
    fc.assert(
      fc.property(arbitraryRun(), places, fc.integer({ min: 1, max: 9 }), ({ run, events: said, end }, to, every) => {
        const sealed = transcode(
          seal(run, () => undefined),
          said,
          end,
        );
        const cursor = cursorOver(logged(sealed), every);
        for (const n of to) expect(cursor.messageAt(n)).toEqual(foldEvents(sealed.slice(0, n)));
      }),
    );
  });

  it('keeps what it showed as it was', () => {
    const cursor = cursorOver(entries);
    const early = cursor.messageAt(20);
    const copy = structuredClone(early);
    cursor.messageAt(events.length);
    expect(early).toEqual(copy);
  });

  it('grows with its run', () => {
    const cursor = cursorOver(entries.slice(0, 100));
    cursor.messageAt(100);
    cursor.turnTo(entries);
    expect(cursor.messageAt(events.length)).toEqual(foldEvents(events));
  });

  it('begins anew with another run, and with a log that began anew', () => {
    const cursor = cursorOver(entries);
    cursor.messageAt(entries.length);
    const other: AgentEvent[] = [
      { type: 'run-start', runId: 'r', threadId: 't', messageId: 'm' },
      { type: 'text-start', id: 'x' },
      { type: 'text-delta', id: 'x', delta: 'Hi' },
    ];
    cursor.turnTo(logged(other));
    expect(cursor.messageAt(3)).toEqual(foldEvents(other));
    cursor.turnTo(logged(events));
    expect(cursor.messageAt(30)).toEqual(foldEvents(events.slice(0, 30)));
  });
});
