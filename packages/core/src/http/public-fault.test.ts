import { describe, expect, it } from 'vitest';
import type { AgentEvent } from '../event/event.ts';
import type { CanonicalMessage } from '../event/message.ts';
import { toPublicEvent, toPublicFault, toPublicMessage } from './public-fault.ts';

const secret = {
  message: 'Incorrect API key: sk-secret',
  code: 'invalid_api_key',
  retryable: false,
  data: { a: 'sk-secret' },
};
const shown = {
  message: "The agent failed to answer. The server's log has the reason. Run: r1.",
  code: 'run-failed',
  retryable: false,
};
const view = { runId: 'r1' };

describe('toPublicFault', () => {
  it('hides the text, code and data of a provider and names the run', () => {
    expect(toPublicFault(secret, view)).toEqual(shown);
  });

  it('keeps the text of our own faults', () => {
    const lost = { message: 'The process that ran it is gone.', code: 'lost', data: { process: 'p' } };
    expect(toPublicFault(lost, view)).toEqual({ message: lost.message, code: 'lost' });
  });

  it('uses errorText, which receives the complete fault', () => {
    const errorText = (fault: object): string => JSON.stringify(fault);
    expect(toPublicFault(secret, { ...view, errorText })).toEqual({
      message: JSON.stringify(secret),
      code: 'invalid_api_key',
      retryable: false,
    });
  });
});

describe('toPublicEvent', () => {
  it.each<AgentEvent>([
    { type: 'run-end', outcome: 'error', error: secret },
    {
      type: 'run-end',
      outcome: 'error',
      error: secret,
      providerMetadata: { mail: { taskStatus: 'error', error: secret.message } },
    },
    { type: 'raw', dialect: 'mail', value: { event: 'x', data: { error: { message: secret.message } } } },
    { type: 'raw', dialect: 'ai-sdk', value: { type: 'response.failed', message: secret.message } },
    { type: 'raw', dialect: 'mail', value: { truncated: true, preview: `{"error":"${secret.message}` } },
    { type: 'raw', dialect: 'mail', value: `Error: ${secret.message}` },
    { type: 'agent-end', agentId: 'a', outcome: 'error', error: secret },
    { type: 'notice', level: 'error', message: secret.message, code: secret.code, data: secret.data },
    {
      type: 'message-snapshot',
      content: {
        format: 2,
        parts: [],
        providerMetadata: { mail: { error: secret.message } },
        agents: { a: { name: 'A', kind: 'agent', outcome: 'error', error: secret } },
        runs: [{ runId: 'r0', outcome: 'error', error: secret }],
      },
    },
  ])('hides the fault of $type', (event) => {
    const text = JSON.stringify(toPublicEvent(event, view));
    expect(text).not.toContain('sk-secret');
    expect(text).toContain('run-failed');
  });

  it.each<AgentEvent>([
    { type: 'run-end', outcome: 'complete' },
    { type: 'run-end', outcome: 'aborted', reason: 'enough' },
    { type: 'notice', level: 'warning', message: 'Slow.' },
    { type: 'raw', dialect: 'openai', value: { type: 'response.created', error: null, text: 'an error of mine' } },
    { type: 'tool-result', toolCallId: 'c', status: 'error', error: { message: 'No such city.' } },
  ])('returns $type without a hidden fault unchanged', (event) => {
    expect(toPublicEvent(event, view)).toBe(event);
  });
});

it('keeps frames and metadata if errorText shows the original message', () => {
  const errorText = ({ message }: { message: string }): string => message;
  const providerMetadata = { mail: { error: secret.message } };
  const end: AgentEvent = { type: 'run-end', outcome: 'error', error: secret, providerMetadata };
  expect(toPublicEvent(end, { ...view, errorText })).toMatchObject({ providerMetadata });
  const raw: AgentEvent = { type: 'raw', dialect: 'mail', value: { error: secret.message } };
  expect(toPublicEvent(raw, { ...view, errorText })).toBe(raw);
});

it('names the failed run in each run of a message', () => {
  const message: CanonicalMessage = {
    id: 'm',
    threadId: 't',
    role: 'assistant',
    type: 'text',
    createdAt: new Date(0),
    content: { format: 2, parts: [], runs: [{ runId: 'r7', outcome: 'error', error: secret }] },
  };
  expect(toPublicMessage(message, {}).content.runs).toMatchObject([
    { error: { code: 'run-failed', message: expect.stringContaining('r7') as string } },
  ]);
});
