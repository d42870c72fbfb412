import type { TreeMessage } from '../../api.ts';
import { groupBy } from '../group-by.ts';

export type TreeRow = {
  message: TreeMessage;
  /** Column of the message's branch. */
  lane: number;
  /** Lane of the parent, if it differs. */
  from?: number;
  /** Lanes of other branches that continue below this row. */
  passing: Array<{ lane: number; isActive: boolean }>;
  siblings: number;
  /** Position among its siblings, from 1. */
  nth: number;
  /** Whether it has no parent. */
  isFirst: boolean;
  isActive: boolean;
  isHead: boolean;
  isLeaf: boolean;
  /** Whether the active branch continues below it. */
  isActiveBelow: boolean;
};

/**
 * Orders the messages of a thread in rows, depth first. A branch keeps its lane to the end. The active branch has lane 0; other
 * branches are listed where they fork, before the active one continues.
 */
export function buildTreeRows(messages: readonly TreeMessage[], headId: string | undefined): TreeRow[] {
  const byId = new Map(messages.map((message) => [message.id, message]));
  // A message whose parent was deleted starts a branch of its own.
  const getParent = ({ parentId }: TreeMessage): string | undefined =>
    parentId !== undefined && byId.has(parentId) ? parentId : undefined;
  const children = groupBy(messages, getParent);
  const active = findPath(byId, headId);
  const rows: TreeRow[] = [];
  let lanes = 0;
  const open = new Map<number, boolean>();

  const visit = (start: TreeMessage, lane: number, from: number | undefined): void => {
    let message: TreeMessage | undefined = start;
    let parentLane = from;
    while (message) {
      const siblings = children.get(getParent(message))!;
      const next = children.get(message.id) ?? [];
      open.delete(lane);
      rows.push({
        message,
        lane,
        ...(parentLane !== undefined && { from: parentLane }),
        passing: Array.from(open, ([at, isActive]) => ({ lane: at, isActive })).toSorted((a, b) => a.lane - b.lane),
        siblings: siblings.length,
        nth: siblings.indexOf(message) + 1,
        isFirst: getParent(message) === undefined,
        isActive: active.has(message.id),
        isHead: message.id === headId,
        isLeaf: next.length === 0,
        isActiveBelow: next.some(({ id }) => active.has(id)),
      });
      parentLane = undefined;
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

/** Finds the leaf below a message, following the newest child. */
export function findLeafBelow(messages: readonly TreeMessage[], id: string): string {
  const next = messages.findLast(({ parentId, id: own }) => parentId === id && own !== id);
  return next === undefined ? id : findLeafBelow(messages, next.id);
}

function findPath(byId: Map<string, TreeMessage>, headId: string | undefined): Set<string> {
  const path = new Set<string>();
  for (let id = headId; id !== undefined && !path.has(id); id = byId.get(id)?.parentId) path.add(id);
  return path;
}
