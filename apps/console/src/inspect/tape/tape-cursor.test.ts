import { readFileSync } from 'node:fs';
import { arbitraryRun } from '@intertie/conformance/arbitraries';
import { foldEvents, parseTape, seal, transcode, type AgentEvent } from '@intertie/core';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { TapeCursor } from './tape-cursor.ts';

const path = new URL('../../../../../packages/conformance/corpus/swarm-asks.tape.jsonl', import.meta.url);
const events = parseTape(readFileSync(path, 'utf8')).items.map(({ item }) => item as unknown as AgentEvent);

describe('TapeCursor', () => {
  it('shows at every place what a fold of the events before it makes, whichever way it goes', () => {
    const cursor = new TapeCursor(events);
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
        const cursor = new TapeCursor(sealed, every);
        for (const n of to) expect(cursor.messageAt(n)).toEqual(foldEvents(sealed.slice(0, n)));
      }),
    );
  });

  it('keeps what it showed as it was', () => {
    const cursor = new TapeCursor(events);
    const early = cursor.messageAt(20);
    const copy = structuredClone(early);
    cursor.messageAt(events.length);
    expect(early).toEqual(copy);
  });

  it('grows with its run', () => {
    const cursor = new TapeCursor(events.slice(0, 100));
    cursor.messageAt(100);
    cursor.grow(events);
    expect(cursor.messageAt(events.length)).toEqual(foldEvents(events));
  });
});
