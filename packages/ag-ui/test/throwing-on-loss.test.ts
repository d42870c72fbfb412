import { seal, sourceStream, toReadableStream, type AgentEvent, type AgentSource } from '@intertie/core';
import { expect, it } from 'vitest';
import { createAGUIHandler } from '../src/server/create-ag-ui-handler.ts';
import { frameEvents } from './frame-events.ts';

it.each<[string, AgentEvent]>([
  // AG-UI has no field for a runtime's resume token, and clients get no internal text.
  ['at the end', { type: 'run-end', outcome: 'paused', waitingFor: [{ type: 'message' }], resume: 'token' }],
  ['before the end', { type: 'text-start', id: 'b', internal: true }],
])('ends the run with one error if onLoss throws %s', async (_when, lost) => {
  const source: AgentSource = {
    name: 'scripted',
    pauses: 'replay',
    run: (run) =>
      sourceStream(
        toReadableStream([{ type: 'text-start', id: 'a' }, { type: 'text-delta', id: 'a', delta: 'One' }, lost]),
        seal(run, () => undefined),
      ),
  };
  const handler = createAGUIHandler(source, {
    onLoss() {
      throw new Error('No losses.');
    },
  });
  const messages = [{ id: 'u1', role: 'user', content: 'Go.' }];
  const body = JSON.stringify({ threadId: 't', runId: 'r', protocolVersion: '1.0', messages });
  const text = await (await handler(new Request('http://localhost/', { method: 'POST', body }))).text();
  const events = frameEvents(text);
  expect(events.filter(({ type }) => type === 'RUN_ERROR' || type === 'RUN_FINISHED')).toEqual([events.at(-1)]);
  expect(events.at(-1)).toMatchObject({
    type: 'RUN_ERROR',
    code: 'run-failed',
    message: expect.stringContaining('Run: r.') as string,
  });
  expect(text).toContain('One');
});
