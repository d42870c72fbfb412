import type { Hint } from '@intertie/core/store';
import { describe, expect, it, vi } from 'vitest';

import type { Contract } from './contract.ts';
import { deltas, message, start } from './samples.ts';

// Generous, because the machine may be busy with other tests.
const waitOptions = { timeout: 4_000 };

/** A bus may lose hints in general; these tests run on an idle bus, which must deliver them. */
export function hintTests(contract: Contract): void {
  describe('hints', () => {
    it('delivers hints to every subscriber until it unsubscribes', async () => {
      const store = await contract.open();
      const [first, second] = [vi.fn<(hint: Hint) => void>(), vi.fn<(hint: Hint) => void>()];
      const unsubscribe = store.hints.subscribe(first);
      store.hints.subscribe(second);
      store.hints.publish({ type: 'flushed', process: 'p1' });
      await vi.waitFor(() => expect(first).toHaveBeenCalledWith({ type: 'flushed', process: 'p1' }), waitOptions);
      unsubscribe();
      first.mockClear();
      store.hints.publish({ type: 'flushed', process: 'p2' });
      await vi.waitFor(() => expect(second).toHaveBeenCalledWith({ type: 'flushed', process: 'p2' }), waitOptions);
      expect(first).not.toHaveBeenCalled();
    });

    it('publishes hints for flushes, stops, answers and changed threads', async () => {
      const store = await contract.open();
      const hints: Hint[] = [];
      store.hints.subscribe((hint) => void hints.push(hint));
      const { scope } = store;
      const { run, epoch } = await start(store, '1');
      await vi.waitFor(
        () => expect(hints).toContainEqual({ type: 'thread', scope, threadId: 'thread_1' }),
        waitOptions,
      );
      await store.log.append([{ run: run.key, epoch, seq: 1, events: deltas('a') }]);
      await vi.waitFor(() => expect(hints).toContainEqual({ type: 'flushed', process: 'p1' }), waitOptions);
      const question = { questionId: 'q1', kind: 'input' as const };
      await store.registry.openDecisions(run.key, epoch, [{ id: 'q1', kind: 'input', question }]);
      const continuation = { runId: 'run_2', process: 'p1' };
      await store.registry.answer(scope, run.key, { answers: [{ questionId: 'q1', value: 1 }], continuation });
      await vi.waitFor(() => expect(hints).toContainEqual({ type: 'answer', run: run.key }), waitOptions);
      await store.registry.stop(scope, run.key);
      await vi.waitFor(() => expect(hints).toContainEqual({ type: 'stop', run: run.key }), waitOptions);
      await store.saveMessages({ messages: [message('m', { threadId: 'thread_2' })] });
      await vi.waitFor(
        () => expect(hints).toContainEqual({ type: 'thread', scope, threadId: 'thread_2' }),
        waitOptions,
      );
    });
  });
}
