import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createUuidV7, generateId } from './uuid-v7.ts';

const SHAPE = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

const getTime = (id: string): number => Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16);

function areIncreasing(ids: string[]): boolean {
  return ids.every((id, index) => index === 0 || id > ids[index - 1]!);
}

describe('createUuidV7', () => {
  it('creates version 7 UUIDs that begin with the time', () => {
    const id = createUuidV7({ now: () => 0x017f22e279b0 })();
    expect(id).toMatch(SHAPE);
    expect(id.startsWith('017f22e2-79b0-7')).toBe(true);
    expect(generateId()).toMatch(SHAPE);
  });

  it('increases strictly for any clock', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 50 }), { minLength: 2 }), (times) => {
        let at = 0;
        const next = createUuidV7({ now: () => times[at++ % times.length]! });
        expect(areIncreasing(times.map(next))).toBe(true);
      }),
    );
  });

  it('advances to the next millisecond when the counter is full', () => {
    const next = createUuidV7({ now: () => 1000, random: (bytes) => void bytes.fill(0xff) });
    const ids = Array.from({ length: 2 ** 17 + 3 }, next);
    expect(getTime(ids[0]!)).toBe(1000);
    expect(ids.slice(-3).map(getTime)).toEqual([1000, 1001, 1001]);
    expect(areIncreasing(ids.slice(-3))).toBe(true);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('starts the counter at a random value', () => {
    const first = (fill: number): string =>
      createUuidV7({ now: () => 1000, random: (bytes) => void bytes.fill(fill) })();
    expect(first(0)).toBe('00000000-03e8-7000-8000-000000000000');
    expect(first(0xff)).toBe('00000000-03e8-77ff-bfff-ffffffffffff');
  });

  it('creates no duplicates across generators', () => {
    const now = (): number => 1000;
    const ids = Array.from({ length: 10_000 }, () => createUuidV7({ now })());
    expect(new Set(ids).size).toBe(ids.length);
  });
});
