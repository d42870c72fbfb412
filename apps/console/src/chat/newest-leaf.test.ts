import { expect, it } from 'vitest';
import { newestLeaf } from './newest-leaf.ts';

const message = (id: string, parentId: string | undefined, at: number) => ({
  id,
  ...(parentId !== undefined && { parentId }),
  role: 'user',
  createdAt: new Date(at).toISOString(),
  preview: '',
});

it('follows the newest at each fork', () => {
  const tree = [
    message('a', undefined, 1),
    message('b', 'a', 2),
    message('c', 'a', 3),
    message('d', 'b', 4),
    message('e', 'c', 5),
    message('f', 'c', 6),
  ];
  expect(newestLeaf(tree, 'b')).toBe('d');
  expect(newestLeaf(tree, 'a')).toBe('f');
  expect(newestLeaf(tree, 'f')).toBe('f');
});
