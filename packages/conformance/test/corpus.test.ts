import { readdirSync, readFileSync } from 'node:fs';
import { foldEvents, formatTape, parseTape, tapeSource } from '@intertie/core';
import { createResumePoint } from '@intertie/core/internal';
import { describe, expect, it } from 'vitest';
import { readAll } from '../../core/test/read-all.ts';
import { runControl } from '../../core/test/run-control.ts';
import { runInput } from '../../core/test/run-input.ts';
import { canonical } from '../src/checker/canonical.ts';
import { check } from '../src/checker/check.ts';

const folder = new URL('../corpus/', import.meta.url);
const tapes = readdirSync(folder);

describe.each(tapes)('%s', (name) => {
  const text = readFileSync(new URL(name, folder), 'utf8');
  const tape = parseTape(text);

  it('round-trips byte for byte', () => {
    expect(formatTape(tape)).toBe(text);
  });

  it('has no violations and no losses', () => {
    expect(tape.header).toMatchObject({ dialect: 'canonical', title: expect.any(String) });
    const { violations, losses } = check(
      canonical,
      tape.items.map(({ item }) => item),
    );
    expect({ violations, losses }).toEqual({ violations: [], losses: [] });
  });

  it('gives the same message when its run is resumed after its events', async () => {
    const source = tapeSource(tape, { speed: Infinity });
    const whole = await readAll(source.run(runInput(), runControl()));
    const message = foldEvents(whole)!;
    const stored = { ...message, content: { format: 2 as const, parts: [] } };
    // About 40 positions in a long tape.
    const stride = Math.ceil(whole.length / 40);
    for (let length = 0; length < whole.length; length += stride) {
      const log = whole.slice(0, length);
      const from = createResumePoint(stored, log);
      const events = [...log, ...(await readAll(source.resume!(runInput({ epoch: 2 }), from, runControl())))];
      expect(check(canonical, events).violations).toEqual([]);
      expect(foldEvents(events)?.content, `after ${length} events`).toEqual(message.content);
    }
  });
});
