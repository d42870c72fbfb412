import { expect, it } from 'vitest';
import { admitFiles } from './admit-files.ts';

const small = { name: 'small.txt', size: 20_000_000 };
const large = { name: 'large.mov', size: 20_000_001 };
const other = { name: 'other.mov', size: 30_000_000 };

it('takes all that are small enough', () => {
  expect(admitFiles([small, small])).toEqual({ taken: [small, small], problem: undefined });
});

it('leaves out every file that is too large, not the first alone', () => {
  expect(admitFiles([large, small, other])).toEqual({
    taken: [small],
    problem: 'large.mov, other.mov are larger than 20 MB.',
  });
  expect(admitFiles([large]).problem).toBe('large.mov is larger than 20 MB.');
});
