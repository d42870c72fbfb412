import { expect, it } from 'vitest';
import { when } from './when.ts';

it('is as short as it is clear', () => {
  const now = new Date(2026, 2, 14, 15, 0);
  expect(when(new Date(2026, 2, 14, 9, 5).toISOString(), now, 'en-GB')).toBe('09:05');
  expect(when(new Date(2026, 2, 12, 9, 5).toISOString(), now, 'en-GB')).toBe('Thu');
  expect(when(new Date(2026, 0, 2).toISOString(), now, 'en-GB')).toBe('2 Jan');
  expect(when('never', now)).toBe('');
});
