import type { RunInput } from '@intertie/core';
import { expect, it } from 'vitest';
import { runControl } from '../../core/test/run-control.ts';
import { agUiSource } from '../src/client/ag-ui-source.ts';

const run: RunInput = {
  runId: 'r',
  threadId: 't',
  messageId: 'm',
  startedAt: 0,
  history: [],
  answers: [],
  tools: [],
  context: [],
};

it('names the agent and the reason when nothing listens at its URL', async () => {
  // Nothing listens on this port.
  const source = agUiSource({ url: 'http://127.0.0.1:47219/agent' });
  const events = source.run(run, runControl());
  const all = [];
  for await (const event of events) all.push(event);
  expect(all.at(-1)).toMatchObject({
    type: 'run-end',
    outcome: 'error',
    error: {
      message: expect.stringMatching(
        /^Cannot reach the agent at http:\/\/127\.0\.0\.1:47219\/agent: the connection was refused/,
      ),
    },
  });
});
