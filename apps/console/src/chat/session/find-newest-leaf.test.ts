import { expect, it } from 'vitest';
import { findNewestLeaf } from './find-newest-leaf.ts';

const message = (id: string, parentId: string | undefined, at: number) => ({
  id,
  ...(parentId !== undefined && { parentId }),
  role: 'user',
  createdAt: new Date(at).toISOString(),
  preview: '',
});

it('follows the newest child at each fork', () => {
  const tree = [
    message('a', undefined, 1),
    message('b', 'a', 2),
    message('c', 'a', 3),
    message('d', 'b', 4),
    message('e', 'c', 5),
    message('f', 'c', 6),
  ];
  expect(findNewestLeaf(tree, 'b')).toBe('d');
  expect(findNewestLeaf(tree, 'a')).toBe('f');
  expect(findNewestLeaf(tree, 'f')).toBe('f');
});
