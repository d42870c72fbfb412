import { createInMemoryStore } from '@intertie/core';
import fc from 'fast-check';
import { expect, it } from 'vitest';

import { message } from './samples.ts';

const threadId = 'thread_1';

/** Saves under a parent (the index of a live message, or the root), saves again with a new state, or deletes a subtree. */
type Action = { type: 'add' | 'grow' | 'delete'; at: number };

const action: fc.Arbitrary<Action> = fc.record({
  type: fc.constantFrom('add', 'add', 'add', 'grow', 'delete'),
  at: fc.nat(),
});

it('maintains the message tree under random saves and deletes', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(action, { maxLength: 25 }), async (actions) => {
      const store = createInMemoryStore();
      const parents = new Map<string, string | null>();
      const texts = new Map<string, number>();
      let head: string | undefined;
      let made = 0;

      const branch = (leaf: string | null | undefined): string[] =>
        leaf == null ? [] : [...branch(parents.get(leaf)), leaf];

      for (const { type, at } of actions) {
        const ids = [...parents.keys()];
        const id = ids[at % Math.max(1, ids.length)];
        if (type === 'add') {
          const parentId = at % 5 === 0 || id === undefined ? null : id;
          head = `m${++made}`;
          await store.saveMessages({ messages: [message(head, { parentId, state: 0 })] });
          parents.set(head, parentId);
          texts.set(head, 0);
        } else if (id !== undefined && type === 'grow') {
          texts.set(id, texts.get(id)! + 1);
          await store.saveMessages({ messages: [message(id, { parentId: null, state: texts.get(id)! })] });
        } else if (id !== undefined) {
          const doomed = ids.filter((other) => branch(other).includes(id));
          await store.deleteMessage({ threadId, messageId: id });
          if (head !== undefined && doomed.includes(head)) head = parents.get(id) ?? undefined;
          for (const other of doomed) parents.delete(other);
        }

        const changed = await store.listChanges({ threadId, since: 0 });
        expect(changed.filter((change) => change.type === 'tombstone')).toHaveLength(made - parents.size);
        const listed = await store.listMessages({ threadId });
        expect(listed.map((each) => each.id)).toEqual(branch(head));
        for (const leafId of parents.keys()) {
          const path = await store.listMessages({ threadId, leafId });
          expect(path.map((each) => [each.id, each.state])).toEqual(
            branch(leafId).map((each) => [each, texts.get(each)]),
          );
        }
      }
    }),
  );
});
