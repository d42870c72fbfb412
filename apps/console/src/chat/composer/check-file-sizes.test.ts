import { expect, it } from 'vitest';
import { checkFileSizes } from './check-file-sizes.ts';

const small = { name: 'small.txt', size: 20_000_000 };
const large = { name: 'large.mov', size: 20_000_001 };
const other = { name: 'other.mov', size: 30_000_000 };

it('accepts all files that are small enough', () => {
  expect(checkFileSizes([small, small])).toEqual({ accepted: [small, small], problem: undefined });
});

it('rejects every file that is too large', () => {
  expect(checkFileSizes([large, small, other])).toEqual({
    accepted: [small],
    problem: 'large.mov, other.mov are larger than 20 MB.',
  });
  expect(checkFileSizes([large]).problem).toBe('large.mov is larger than 20 MB.');
});
