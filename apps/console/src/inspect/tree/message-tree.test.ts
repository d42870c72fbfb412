import { describe, expect, it } from 'vitest';
import type { TreeMessage } from '../../api.ts';
import { findLeafBelow, buildTreeRows } from './message-tree.ts';

/** Creates messages; `a>b` is b with parent a. */
const messages = (...links: string[]): TreeMessage[] =>
  links.map((link) => {
    const [parentId, id] = link.includes('>') ? (link.split('>') as [string, string]) : [undefined, link];
    return { id, role: 'user', createdAt: '', preview: id, ...(parentId && { parentId }) };
  });
const shape = (list: TreeMessage[], head?: string) =>
  buildTreeRows(list, head).map(({ message, lane, from, isActive }) => [message.id, lane, from, isActive]);

describe('buildTreeRows', () => {
  it('puts the active branch into the first lane and other branches where they fork', () => {
    expect(shape(messages('a', 'a>b', 'a>c', 'b>d', 'c>e'), 'e')).toEqual([
      ['a', 0, undefined, true],
      ['b', 1, 0, false],
      ['d', 1, undefined, false],
      ['c', 0, undefined, true],
      ['e', 0, undefined, true],
    ]);
  });

  it('treats the newest branch as the main one without a head', () => {
    expect(shape(messages('a', 'a>b', 'a>c')).map(([id, lane]) => [id, lane])).toEqual([
      ['a', 0],
      ['b', 1],
      ['c', 0],
    ]);
  });

  it('reports passing lanes, sibling positions, leaves and the head', () => {
    const rows = buildTreeRows(messages('a', 'a>b', 'a>c', 'a>d'), 'd');
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

  it('gives edited first messages and messages without a parent their own lanes', () => {
    expect(shape(messages('a', 'b', 'gone>c'), 'b')).toEqual([
      ['a', 1, undefined, false],
      ['c', 2, undefined, false],
      ['b', 0, undefined, true],
    ]);
    expect(buildTreeRows([], undefined)).toEqual([]);
  });
});

describe('findLeafBelow', () => {
  it('follows the newest child to a leaf', () => {
    const tree = messages('a', 'a>b', 'a>c', 'b>d', 'c>e', 'c>f');
    expect(['a', 'b', 'c', 'f'].map((id) => findLeafBelow(tree, id))).toEqual(['f', 'd', 'f', 'f']);
  });
});
