import { createInMemoryStore, seal, sourceStream, type AgentEvent, type AgentSource } from '@intertie/core';
import { expect, it } from 'vitest';

import { gate } from '../../test/test-stores.ts';
import { Agent } from '../agent/agent.ts';
import { findContinuation } from './find-continuation.ts';

it('returns the run itself while it is still running after its answer, and its continuation later', async () => {
  const proceed = gate();
  const source: AgentSource = {
    name: 'busy',
    pauses: 'replay',
    run: (run, { signal }) =>
      sourceStream(
        async function* (): AsyncGenerator<AgentEvent> {
          yield { type: 'question', questionId: 'q', kind: 'input' };
          await proceed.opened;
          const waitingFor = [{ type: 'question' as const, questionId: 'q' }];
          if (run.message) yield { type: 'run-end', outcome: 'complete' };
          else yield { type: 'run-end', outcome: 'paused', waitingFor };
        },
        seal(run, () => undefined),
        { signal },
      ),
  };
  const store = createInMemoryStore();
  const agent = new Agent({ source, store });
  const run = await agent.start({ threadId: 't' });
  for await (const event of (await agent.attach(run.runId))!.events) if (event.type === 'question') break;
  const { key } = await run.record();
  await store.registry.answer(store.scope, key, {
    answers: [{ questionId: 'q', value: 'yes' }],
    continuation: { runId: 'next', process: 'p' },
  });
  expect(await findContinuation(store, run, 10)).toMatchObject({ runId: run.runId, state: 'running' });
  proceed.open();
  expect(await findContinuation(store, run)).toMatchObject({ resumes: key });
  await agent.close();
});
