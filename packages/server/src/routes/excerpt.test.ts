import { expect, it } from 'vitest';
import { createExcerpt } from './excerpt.ts';

const show = (text: string, ...terms: string[]): string =>
  createExcerpt(text, terms)
    .map(({ text: piece, isMatch }) => (isMatch ? `[${piece}]` : piece))
    .join('');

it('marks the beginnings of words that equal a term, in any case', () => {
  expect(show('The Train\n to  Berlin, no strain.', 'train', 'ber')).toBe('The [Train] to [Ber]lin, no strain.');
  expect(show('Über die Brücke', 'über')).toBe('[Über] die Brücke');
});

it('cuts a long text around its first match, at a word', () => {
  const text = `${'before '.repeat(30)}found ${'after '.repeat(50)}`;
  const excerpt = show(text, 'found');
  expect(excerpt).toMatch(/^…before .*\[found\] after .*…$/);
  expect(excerpt.length).toBeLessThan(170);
});

it('shows the beginning of a text whose match was not found again', () => {
  expect(show('some text', 'other')).toBe('some text');
});
