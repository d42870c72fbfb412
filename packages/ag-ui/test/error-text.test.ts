import { seal, sourceStream, toReadableStream, type AgentEvent, type AgentSource, type Fault } from '@intertie/core';
import { describe, expect, it } from 'vitest';
import { createAGUIHandler } from '../src/server/create-ag-ui-handler.ts';
import type { AGUIEvent } from '../src/shared/ag-ui-event.ts';
import { frameEvents } from './frame-events.ts';

const secret = 'The key sk-123 is wrong.';
const fault: Fault = { message: secret, code: 'http-401', data: { body: secret } };

/** Serves a run with the given events and returns the response. */
async function serveEvents(
  events: AgentEvent[],
  errorText?: (fault: Fault) => string,
): Promise<{ text: string; events: AGUIEvent[] }> {
  const source: AgentSource = {
    name: 'scripted',
    pauses: 'replay',
    run: (run) =>
      sourceStream(
        toReadableStream(events),
        seal(run, () => undefined),
      ),
  };
  const messages = [{ id: 'u1', role: 'user', content: 'Go.' }];
  const body = JSON.stringify({ threadId: 't', runId: 'r', protocolVersion: '1.0', messages });
  const handler = createAGUIHandler(source, errorText && { errorText });
  const text = await (await handler(new Request('http://localhost/', { method: 'POST', body }))).text();
  return { text, events: frameEvents(text) };
}

const complete: AgentEvent = { type: 'run-end', outcome: 'complete' };

describe('errorText', () => {
  it.each<[string, AgentEvent[]]>([
    ['of the run', [{ type: 'run-end', outcome: 'error', error: fault }]],
    [
      'of a sub-agent',
      [
        { type: 'agent-start', agentId: 'a', name: 'A', kind: 'agent' },
        { type: 'agent-end', agentId: 'a', outcome: 'error', error: fault },
        complete,
      ],
    ],
    [
      'of a node',
      [
        { type: 'agent-start', agentId: 'a', name: 'A', kind: 'node' },
        { type: 'agent-end', agentId: 'a', outcome: 'error', error: fault },
        complete,
      ],
    ],
    [
      'in a notice',
      [{ type: 'notice', level: 'error', message: secret, code: 'http-401', data: { body: secret } }, complete],
    ],
  ])('replaces the text of an error %s', async (_, events) => {
    const faults: Fault[] = [];
    const { text } = await serveEvents(events, (error) => {
      faults.push(error);
      return 'Something went wrong.';
    });
    expect(text).not.toContain('sk-123');
    expect(text).toContain('Something went wrong.');
    expect(faults).toMatchObject([{ message: secret, code: 'http-401' }]);
  });

  it('does not change error codes and warnings', async () => {
    const warning: AgentEvent = { type: 'notice', level: 'warning', message: 'Slow.' };
    const failed: AgentEvent = { type: 'run-end', outcome: 'error', error: fault };
    const { events } = await serveEvents([warning, failed], () => 'No.');
    expect(events).toMatchObject([
      { type: 'RUN_STARTED' },
      { type: 'CUSTOM', value: { level: 'warning', message: 'Slow.' } },
      { type: 'RUN_ERROR', message: 'No.', code: 'http-401' },
    ]);
  });

  it('defaults to a code, a sentence and the run id', async () => {
    const { events, text } = await serveEvents([{ type: 'run-end', outcome: 'error', error: fault }]);
    expect(events.at(-1)).toMatchObject({
      type: 'RUN_ERROR',
      code: 'run-failed',
      message: expect.stringContaining('Run: r.') as string,
    });
    expect(text).not.toContain('sk-123');
  });

  it('defaults to the message of our own errors', async () => {
    const { events } = await serveEvents([
      { type: 'run-end', outcome: 'error', error: { message: 'Gone.', code: 'lost' } },
    ]);
    expect(events.at(-1)).toMatchObject({ type: 'RUN_ERROR', code: 'lost', message: 'Gone.' });
  });

  it.each(['agent', 'node'] as const)(
    'does not send the data of an error, with a sub-agent of kind %s',
    async (kind) => {
      const { text } = await serveEvents([
        { type: 'agent-start', agentId: 'a', name: 'A', kind },
        { type: 'notice', level: 'error', ...fault },
        { type: 'agent-end', agentId: 'a', outcome: 'error', error: fault },
        { type: 'run-end', outcome: 'error', error: fault },
      ]);
      expect(text).not.toContain('"body"');
      expect(text).not.toContain('sk-123');
    },
  );
});
