import { canonical, check } from '@intertie/conformance';
import { createInMemoryStore, foldEvents, type AgentEvent, type AgentSource } from '@intertie/core';
import fc from 'fast-check';
import { expect, it } from 'vitest';

import { arbitraryRun } from '../../conformance/src/arbitraries/arbitrary-run.ts';
import { Agent } from '../src/agent/agent.ts';
import { createRunHost } from '../src/execution/run-host.ts';
import { collect } from './test-stores.ts';

/** Creates a source that emits the events unchanged: sealed or not, ended or not. */
function createSource(events: readonly AgentEvent[], pauses: AgentSource['pauses']): AgentSource {
  return {
    name: 'any',
    pauses,
    run: () => {
      let next = 0;
      return new ReadableStream<AgentEvent>({
        async pull(controller) {
          if (next % 7 === 6) await new Promise((resolve) => setTimeout(resolve));
          const event = events[next++];
          if (event) controller.enqueue(event);
          else controller.close();
        },
      });
    },
  };
}

it('logs a valid run with one end whose fold is the message, for any source events and any stop', async () => {
  const store = createInMemoryStore();
  const host = createRunHost(store, { tickMs: 1 });
  let thread = 0;
  await fc.assert(
    fc.asyncProperty(
      arbitraryRun(),
      fc.option(fc.nat(30), { nil: undefined }),
      fc.constantFrom('replay' as const, 'token' as const, 'live' as const),
      async ({ events }, stopAfter, pauses) => {
        const agent = new Agent({ source: createSource(events, pauses), store, host });
        const run = await agent.stream({ threadId: `t${thread++}`, message: 'Go' });
        let received = 0;
        for await (const _ of run.events) if (received++ === stopAfter) await run.stop();
        const log = await collect(run.events);
        expect(check(canonical, log).violations).toEqual([]);
        expect(log.filter(({ type }) => type === 'run-start')).toHaveLength(1);
        expect(log.filter(({ type }) => type === 'run-end')).toHaveLength(1);
        const { outcome } = await run.record();
        expect(log.at(-1)).toMatchObject({ type: 'run-end', ...outcome });
        const message = await run.message;
        const folded = foldEvents(log)!;
        expect(message.state).toEqual(folded.state);
        // The store cancels questions of an aborted run in the message. Everything else equals the fold.
        const isCancelled = message.status !== folded.status;
        expect({ ...message.content, parts: isCancelled ? folded.content.parts : message.content.parts }).toEqual(
          folded.content,
        );
        expect(await store.registry.liveRun(store.scope, { threadId: run.threadId })).toBeNull();
      },
    ),
    { numRuns: 80 },
  );
  await host.close();
});
