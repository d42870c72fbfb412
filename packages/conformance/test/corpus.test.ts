import { readdirSync, readFileSync } from 'node:fs';
import { formatTape, parseTape } from '@intertie/core';
import { describe, expect, it } from 'vitest';
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
});
