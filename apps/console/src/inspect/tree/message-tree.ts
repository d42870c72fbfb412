import type { TreeMessage } from '../../api.ts';
import { groupBy } from '../group-by.ts';

export type TreeRow = {
  message: TreeMessage;
  /** The column of the branch that the message is on. */
  lane: number;
  /** The lane of the message before it, where that is another one. */
  from?: number;
  /** The lanes that go on past this row. */
  passing: Array<{ lane: number; isActive: boolean }>;
  siblings: number;
  /** Which of its siblings it is, from 1. */
  nth: number;
  /** Whether it follows no message. */
  isFirst: boolean;
  isActive: boolean;
  isHead: boolean;
  isLeaf: boolean;
  /** Whether the active branch goes on below it. */
  isActiveBelow: boolean;
};

/**
 * A conversation's messages from the first to the last of each branch, one row each. A branch keeps its lane to the end; the
 * active one has the first, and another branch stands where it leaves, before the active one goes on.
 */
export function treeRows(messages: readonly TreeMessage[], headId: string | undefined): TreeRow[] {
  const byId = new Map(messages.map((message) => [message.id, message]));
  // A message whose parent was deleted begins a branch of its own.
  const parentOf = ({ parentId }: TreeMessage): string | undefined =>
    parentId !== undefined && byId.has(parentId) ? parentId : undefined;
  const children = groupBy(messages, parentOf);
  const active = pathTo(byId, headId);
  const rows: TreeRow[] = [];
  let lanes = 0;
  const open = new Map<number, boolean>();

  const visit = (start: TreeMessage, lane: number, from: number | undefined): void => {
    let message: TreeMessage | undefined = start;
    let comesFrom = from;
    while (message) {
      const siblings = children.get(parentOf(message))!;
      const next = children.get(message.id) ?? [];
      open.delete(lane);
      rows.push({
        message,
        lane,
        ...(comesFrom !== undefined && { from: comesFrom }),
        passing: Array.from(open, ([at, isActive]) => ({ lane: at, isActive })).toSorted((a, b) => a.lane - b.lane),
        siblings: siblings.length,
        nth: siblings.indexOf(message) + 1,
        isFirst: parentOf(message) === undefined,
        isActive: active.has(message.id),
        isHead: message.id === headId,
        isLeaf: next.length === 0,
        isActiveBelow: next.some(({ id }) => active.has(id)),
      });
      comesFrom = undefined;
      if (next.length === 0) return;
      const main: TreeMessage = next.find(({ id }) => active.has(id)) ?? next.at(-1)!;
      open.set(lane, active.has(main.id));
      for (const other of next) if (other !== main) visit(other, ++lanes, lane);
      message = main;
    }
  };
  const roots = children.get(undefined) ?? [];
  const first = roots.find(({ id }) => active.has(id)) ?? roots.at(-1);
  for (const root of roots) if (root !== first) visit(root, ++lanes, undefined);
  if (first) visit(first, 0, undefined);
  return rows;
}

/** The end of the branch that a message is on: after it, always the newest. */
export function leafBelow(messages: readonly TreeMessage[], id: string): string {
  const next = messages.findLast(({ parentId, id: own }) => parentId === id && own !== id);
  return next === undefined ? id : leafBelow(messages, next.id);
}

function pathTo(byId: Map<string, TreeMessage>, headId: string | undefined): Set<string> {
  const path = new Set<string>();
  for (let id = headId; id !== undefined && !path.has(id); id = byId.get(id)?.parentId) path.add(id);
  return path;
}
