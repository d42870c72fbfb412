import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { capJson } from './cap-json.ts';
import type { Loss } from './loss.ts';
import { utf8Length } from './utf8-length.ts';

describe('capJson', () => {
  it('returns a value itself if it fits', () => {
    const value = { a: [1, 'x', null] };
    expect(capJson(value, JSON.stringify(value).length)).toBe(value);
  });

  it('replaces a larger value by a preview and reports it', () => {
    const losses: Loss[] = [];
    const value = { message: 'x'.repeat(1000) };
    const capped = capJson(value, 100, (loss) => losses.push(loss));
    expect(capped).toEqual({ truncated: true, preview: expect.stringMatching(/^\{"message":"x+$/) });
    expect(JSON.stringify(capped).length).toBe(100);
    expect(losses).toEqual([{ kind: 'repaired', what: 'large value', why: expect.stringContaining('100 bytes') }]);
  });

  it('limits the UTF-8 bytes of the JSON text, including those of the preview', () => {
    fc.assert(
      fc.property(fc.jsonValue({ stringUnit: 'binary' }), fc.integer({ min: 40, max: 200 }), (value, maxBytes) => {
        const json = JSON.parse(JSON.stringify(value)) as typeof value;
        const capped = capJson(json, maxBytes);
        expect(capped === json).toBe(utf8Length(JSON.stringify(json)) <= maxBytes);
        expect(utf8Length(JSON.stringify(capped))).toBeLessThanOrEqual(maxBytes);
      }),
    );
  });

  it('does not split a character', () => {
    const { preview } = capJson('😀'.repeat(100), 50) as { preview: string };
    expect(preview).toMatch(/^"(😀)+$/u);
  });

  it('stops serializing shared values that would grow exponentially', () => {
    let value: unknown = 'leaf';
    for (let level = 0; level < 100; level += 1) value = [value, value];
    expect(capJson(value, 1000)).toMatchObject({ truncated: true });
  });

  it('converts values that are not JSON', () => {
    expect(capJson({ big: 10n ** 30n })).toEqual({ big: `1${'0'.repeat(30)}` });
  });
});
