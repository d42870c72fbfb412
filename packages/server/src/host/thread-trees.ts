import type { CanonicalMessage, Store, Thread } from '@intertie/core';
import { defined } from '@intertie/core/internal';
import type { MessageChange } from '@intertie/core/store';

/** Message without content: its place in the tree and a preview. */
export type TreeNode = {
  id: string;
  parentId?: string;
  role: CanonicalMessage['role'];
  status?: CanonicalMessage['status'];
  runId?: string;
  createdAt: string;
  preview: string;
};

type Tree = { version: number; nodes: Map<string, TreeNode> };

const maxTrees = 500;
const pageSize = 500;
const previewLength = 120;

/**
 * Caches the message trees of threads. A cached tree is updated with the changes since its version, so reading an unchanged
 * thread costs nothing, whatever its length.
 */
export class ThreadTrees {
  #trees = new Map<string, Tree>();

  async read(store: Store, { id: threadId, version }: Thread): Promise<ReadonlyMap<string, TreeNode>> {
    const key = JSON.stringify([store.scope, threadId]);
    const known = this.#trees.get(key);
    const tree = known?.version === version ? known : await readTree(store, threadId, version, known);
    this.#trees.delete(key);
    this.#trees.set(key, tree);
    for (const oldest of this.#trees.keys()) {
      if (this.#trees.size <= maxTrees) break;
      this.#trees.delete(oldest);
    }
    return tree.nodes;
  }
}

async function readTree(store: Store, threadId: string, version: number, known: Tree | undefined): Promise<Tree> {
  // Versions restart if a thread was deleted and created again.
  const isNew = !known || known.version > version;
  const tree: Tree = isNew ? { version: 0, nodes: new Map() } : { ...known, nodes: new Map(known.nodes) };
  for (let hasMore = true; hasMore;) {
    const changes = await store.listChanges({ threadId, since: tree.version, limit: pageSize });
    for (const change of changes) apply(tree, change);
    hasMore = changes.length >= pageSize;
  }
  // The latest version may belong to a change of the thread itself, which `listChanges` does not return.
  tree.version = Math.max(tree.version, version);
  return tree;
}

function apply(tree: Tree, change: MessageChange): void {
  tree.version = Math.max(tree.version, change.version);
  if (change.type === 'tombstone') tree.nodes.delete(change.messageId);
  else tree.nodes.set(change.message.id, toNode(change.message));
}

function toNode({ id, parentId, role, status, runId, createdAt, content }: CanonicalMessage): TreeNode {
  // Messages between agents are not part of the answer.
  const texts = content.parts.flatMap((part) => (part.type === 'text' && !part.internal ? [part.text] : []));
  const text = texts.join(' ');
  return {
    id,
    ...defined({ parentId, status, runId }),
    role,
    createdAt: createdAt.toISOString(),
    preview: Array.from((text === '' ? (content.content ?? '') : text).replace(/\s+/g, ' ').trim())
      .slice(0, previewLength)
      .join(''),
  };
}
