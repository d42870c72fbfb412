import { describe, expect, it } from 'vitest';
import { compactJson } from './compact-json.ts';

describe('compactJson', () => {
  it('formats a value on one line', () => {
    expect(compactJson({ city: 'Tokyo', days: [1, 2], nested: { ok: true, none: null } })).toBe(
      '{city: "Tokyo", days: [1, 2], nested: {ok: true, none: null}}',
    );
  });

  it('cuts long values and does not read beyond the limit', () => {
    const read: string[] = [];
    const wide = new Proxy(Object.fromEntries(Array.from({ length: 1000 }, (_, i) => [`key${i}`, i])), {
      get: (target, key) => (read.push(String(key)), Reflect.get(target, key) as unknown),
    });
    expect(compactJson(wide, 40)).toHaveLength(40);
    expect(read.length).toBeLessThan(10);
    expect(compactJson('x'.repeat(1e6), 20)).toBe(`"${'x'.repeat(18)}…`);
  });
});
