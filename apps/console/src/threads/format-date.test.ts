import { expect, it } from 'vitest';
import { formatDate } from './format-date.ts';

it('formats a time today, a weekday this week and a date before that', () => {
  const now = new Date(2026, 2, 14, 15, 0);
  expect(formatDate(new Date(2026, 2, 14, 9, 5).toISOString(), now, 'en-GB')).toBe('09:05');
  expect(formatDate(new Date(2026, 2, 12, 9, 5).toISOString(), now, 'en-GB')).toBe('Thu');
  expect(formatDate(new Date(2026, 0, 2).toISOString(), now, 'en-GB')).toBe('2 Jan');
  expect(formatDate('never', now)).toBe('');
});
