import type { TreeMessage } from '../../api.ts';

/** Finds the leaf of the branch through a message, following the newest child at each fork. */
export function findNewestLeaf(tree: readonly TreeMessage[], messageId: string): string {
  const newestChild = new Map<string, TreeMessage>();
  for (const message of tree) {
    const { parentId, createdAt } = message;
    if (parentId === undefined) continue;
    const known = newestChild.get(parentId);
    if (known === undefined || createdAt >= known.createdAt) newestChild.set(parentId, message);
  }
  let leaf = messageId;
  for (let next = newestChild.get(leaf); next !== undefined; next = newestChild.get(leaf)) leaf = next.id;
  return leaf;
}
