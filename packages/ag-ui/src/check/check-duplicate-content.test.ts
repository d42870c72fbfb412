import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DuplicateContentChecker } from './check-duplicate-content.ts';
import type { Fields } from '../shared/read-fields.ts';

function checked(events: readonly Fields[]): string[] {
  const found: string[] = [];
  const checker = new DuplicateContentChecker();
  for (const event of events) checker.feed(event, (rule) => void found.push(rule));
  return found;
}

const text = (messageId: string, deltas: readonly string[]): Fields[] => [
  { type: 'TEXT_MESSAGE_START', messageId },
  ...deltas.map((delta) => ({ type: 'TEXT_MESSAGE_CONTENT', messageId, delta })),
  { type: 'TEXT_MESSAGE_END', messageId },
];

describe('DuplicateContentChecker', () => {
  const pieces = fc.array(fc.string({ unit: fc.constantFrom('a', 'b'), maxLength: 12 }), { maxLength: 4 });

  it('detects a repeated text like a comparison of whole texts', () => {
    fc.assert(
      fc.property(pieces, pieces, fc.boolean(), (first, more, isRepeated) => {
        const before = first.join('');
        const second = isRepeated ? [before.slice(0, 3), before.slice(3), ...more] : more;
        const after = second.join('');
        const isDuplicate = before !== '' && (after === before || (before.length >= 16 && after.startsWith(before)));
        const events = [{ type: 'RUN_STARTED' }, ...text('m', first), { type: 'RUN_STARTED' }, ...text('m', second)];
        expect(checked(events)).toEqual(isDuplicate ? ['retold'] : []);
      }),
    );
  });

  it('compares with the content of all earlier runs', () => {
    const runs = [['Once'], [' upon a time'], ['Once upon a time']];
    expect(checked(runs.flatMap((deltas) => [{ type: 'RUN_STARTED' }, ...text('m', deltas)]))).toEqual(['retold']);
  });

  it('forgets a message after 65,536 others', () => {
    const events = (others: number): Fields[] => [
      { type: 'RUN_STARTED' },
      ...text('m', ['Hello']),
      ...Array.from({ length: others }, (_, n) => ({ type: 'TEXT_MESSAGE_START', messageId: `${n}` })),
      { type: 'RUN_STARTED' },
      ...text('m', ['Hello']),
    ];
    expect([checked(events(65_535)), checked(events(65_536))]).toEqual([['retold'], []]);
  });
});
