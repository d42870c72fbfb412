import { describe, expect, it } from 'vitest';
import type { TreeMessage } from '../../api.ts';
import { leafBelow, treeRows } from './message-tree.ts';

/** `a>b` is b after a. */
const messages = (...links: string[]): TreeMessage[] =>
  links.map((link) => {
    const [parentId, id] = link.includes('>') ? (link.split('>') as [string, string]) : [undefined, link];
    return { id, role: 'user', createdAt: '', preview: id, ...(parentId && { parentId }) };
  });
const shape = (list: TreeMessage[], head?: string) =>
  treeRows(list, head).map(({ message, lane, from, isActive }) => [message.id, lane, from, isActive]);

describe('treeRows', () => {
  it('keeps the active branch in the first lane, and others where they leave it', () => {
    expect(shape(messages('a', 'a>b', 'a>c', 'b>d', 'c>e'), 'e')).toEqual([
      ['a', 0, undefined, true],
      ['b', 1, 0, false],
      ['d', 1, undefined, false],
      ['c', 0, undefined, true],
      ['e', 0, undefined, true],
    ]);
  });

  it('takes the newest branch where nobody said which is active', () => {
    expect(shape(messages('a', 'a>b', 'a>c')).map(([id, lane]) => [id, lane])).toEqual([
      ['a', 0],
      ['b', 1],
      ['c', 0],
    ]);
  });

  it('says which lanes go past, which sibling it is, and where a branch ends', () => {
    const rows = treeRows(messages('a', 'a>b', 'a>c', 'a>d'), 'd');
    const past = [{ lane: 0, isActive: true }];
    expect(rows.map(({ passing }) => passing)).toEqual([[], past, past, []]);
    expect(rows.map(({ nth, siblings }) => `${nth}/${siblings}`)).toEqual(['1/1', '1/3', '2/3', '3/3']);
    expect(rows.map(({ isLeaf, isHead }) => [isLeaf, isHead])).toEqual([
      [false, false],
      [true, false],
      [true, false],
      [true, true],
    ]);
  });

  it('shows first messages that were edited beside each other, and those without their parent', () => {
    expect(shape(messages('a', 'b', 'gone>c'), 'b')).toEqual([
      ['a', 1, undefined, false],
      ['c', 2, undefined, false],
      ['b', 0, undefined, true],
    ]);
    expect(treeRows([], undefined)).toEqual([]);
  });
});

describe('leafBelow', () => {
  it('goes to the end of the newest branch', () => {
    const tree = messages('a', 'a>b', 'a>c', 'b>d', 'c>e', 'c>f');
    expect(['a', 'b', 'c', 'f'].map((id) => leafBelow(tree, id))).toEqual(['f', 'd', 'f', 'f']);
  });
});
