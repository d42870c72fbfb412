import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { encodeBase64 } from './base64.ts';
import { isBase64 } from './is-base64.ts';

describe('isBase64', () => {
  it('accepts all output of encodeBase64, including the empty text', () => {
    fc.assert(fc.property(fc.uint8Array({ maxLength: 50 }), (bytes) => isBase64(encodeBase64(bytes))));
    expect(isBase64('')).toBe(true);
  });

  it.each(['aGk', 'aGk=\n', 'a===', '====', '=', 'aG=k', 'aGk-', 'aGk_', 'ähm.', 'https://example.com/a.png'])(
    'rejects %j',
    (text) => {
      expect(isBase64(text)).toBe(false);
    },
  );

  it('checks 4 MB of text in linear time', () => {
    expect(isBase64(`${'A'.repeat(4_000_000)}AAA!`)).toBe(false);
  });
});
