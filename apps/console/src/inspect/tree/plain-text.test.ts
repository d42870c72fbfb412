import { expect, it } from 'vitest';
import { toPlainText } from './plain-text.ts';

it('removes Markdown syntax, also from a text that was cut', () => {
  expect(toPlainText('**Lisbon**: `18` degrees, see [it](https://example.org)')).toBe('Lisbon: 18 degrees, see it');
  expect(toPlainText('# Plan')).toBe('Plan');
  expect(toPlainText('It is **')).toBe('It is ');
});
