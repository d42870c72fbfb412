import { transcode, type AgentEvent, type Loss, type MessageContent } from '@intertie/core';
import type { ToolPart } from '@intertie/core/internal';
import { safeValidateUIMessages } from 'ai';
import { describe, expect, it } from 'vitest';
import { reduceUIChunks, isValidChunk } from '../../../test/reduce-ui-chunks.ts';
import { createUIMessageEncoder } from './encode-ui-message-stream.ts';
import { fromUIMessages } from '../../messages/from-ui-messages.ts';
import { toUIMessages } from '../../messages/to-ui-messages.ts';
import type { UIMessageVersion } from '../chunk/ui-message-chunk.ts';

const start: AgentEvent = { type: 'run-start', runId: 'r2', threadId: 't', messageId: 'm', resumes: 'r1' };
const complete: AgentEvent = { type: 'run-end', outcome: 'complete' };

async function restated(part: Partial<ToolPart>, version: UIMessageVersion) {
  const call: ToolPart = { type: 'tool-invocation', toolCallId: 'c', toolName: 'rm', state: 'call', args: {}, ...part };
  const content: MessageContent = { format: 2, parts: [call] };
  const losses: Loss[] = [];
  const onLoss = (loss: Loss): void => void losses.push(loss);
  const encoder = createUIMessageEncoder({ version, baseline: 'restate', onLoss });
  const chunks = transcode(encoder, [start, { type: 'message-snapshot', content }, complete]);
  const { message, thrown } = await reduceUIChunks(version, chunks);
  expect(thrown).toBeUndefined();
  const messages = fromUIMessages([message], { threadId: 't' });
  const back = messages[0]?.content.parts.at(-1) as ToolPart;
  return { shown: message?.parts.at(-1), back, stored: toUIMessages(messages)[0]?.parts.at(-1), losses };
}

const approval = (approved: boolean): NonNullable<ToolPart['approval']> => ({
  questionId: 'q',
  kind: 'approval',
  toolCallId: 'c',
  answer: { questionId: 'q', approved, reason: 'So.', by: 'ada' },
});

describe('restated approval that was answered before', () => {
  it.each([6, 7] as const)('shows a refused call as denied with its answer (ai %i)', async (version) => {
    const { shown, back, losses } = await restated({ state: 'denied', approval: approval(false) }, version);
    expect(shown).toMatchObject({ state: 'output-denied', approval: { id: 'q' } });
    expect(back).toMatchObject({ state: 'denied', approval: { answer: { approved: false, reason: 'So.' } } });
    expect(losses).toEqual([]);
  });

  it('sends "approved" to ai 6 in our approval descriptor', async () => {
    const { shown } = await restated({ state: 'denied', approval: approval(false) }, 6);
    expect(shown).toMatchObject({
      approval: { id: 'q', descriptor: { intertie: { answer: { approved: false, reason: 'So.' } } } },
    });
    expect((shown as { approval: object }).approval).not.toHaveProperty('approved');
  });

  it.each([6, 7] as const)('shows the result of a granted call with its answer (ai %i)', async (version) => {
    const { shown, back } = await restated({ state: 'result', result: 1, approval: approval(true) }, version);
    expect(shown).toMatchObject({ state: 'output-available', output: 1, approval: { id: 'q' } });
    expect(back.approval?.answer).toMatchObject({ approved: true });
  });

  it('does not change a foreign descriptor, and reports the answer as lost', async () => {
    const foreign = { ...approval(false), providerMetadata: { 'ai-sdk': { approvalDescriptor: { theirs: 1 } } } };
    const { shown, losses } = await restated({ state: 'denied', approval: foreign }, 6);
    expect(shown).toMatchObject({ approval: { id: 'q', descriptor: { theirs: 1 } } });
    expect(losses).toMatchObject([{ kind: 'unsupported', what: 'answer', id: 'q' }]);
  });

  it('does not ask again about an open call on ai 6', async () => {
    const { shown } = await restated({ approval: approval(true) }, 6);
    expect(shown).toMatchObject({ state: 'input-available' });
    expect(shown).not.toHaveProperty('approval');
  });
});

describe('answers that ai 6 cannot represent', () => {
  const call = { type: 'tool-input-available', toolCallId: 'c', toolName: 'rm', input: {} };
  const answer = { approvalId: 'q', approved: true, reason: 'So.' };
  const chunks = [
    { type: 'start', messageId: 'm' },
    call,
    { type: 'tool-approval-request', toolCallId: 'c', ...answer },
    { type: 'tool-approval-response', ...answer },
  ];
  const output = { type: 'tool-output-available', toolCallId: 'c', output: 1 };

  it('sets "approved" in the reducer of 7, never in that of 6', async () => {
    const shown = async (version: UIMessageVersion) => (await reduceUIChunks(version, chunks)).message?.parts[0];
    expect(await shown(6)).toMatchObject({ state: 'approval-requested', approval: { id: 'q' } });
    expect((await shown(6))?.approval).not.toHaveProperty('approved');
    expect(await shown(7)).toMatchObject({ state: 'approval-responded', approval: { id: 'q', approved: true } });
  });

  it('rejects tool-approval-response in the schema of 6', async () => {
    expect(await isValidChunk(6, chunks[3])).toBe(false);
    expect(await isValidChunk(7, chunks[3])).toBe(true);
  });

  it('does not set "approved" from an output', async () => {
    const live = { ...call, type: 'tool-rm', state: 'approval-responded', approval: { id: 'q', approved: true } };
    const message = { id: 'm', role: 'assistant', parts: [live] };
    const answered = await reduceUIChunks(6, [{ type: 'start', messageId: 'm' }, output], message);
    expect(answered.message?.parts[0]).toMatchObject({ state: 'output-available', approval: { approved: true } });
    const reduced = await reduceUIChunks(6, [...chunks, output]);
    expect(reduced.message?.parts[0]?.approval).toEqual({ id: 'q' });
    const { shown, stored } = await restated({ state: 'result', result: 1, approval: approval(true) }, 6);
    expect(shown?.approval).toEqual({ id: 'q', descriptor: { intertie: { answer: approval(true).answer } } });
    expect(stored).toMatchObject({ state: 'output-available', approval: { id: 'q', approved: true, reason: 'So.' } });
    const valid = async (part: unknown) =>
      (await safeValidateUIMessages({ messages: [{ id: 'm', role: 'assistant', parts: [part] }] })).success;
    expect([await valid(shown), await valid(stored)]).toEqual([false, true]);
  });
});

describe('order that a stored message does not preserve', () => {
  const call: AgentEvent = { type: 'tool-call', toolCallId: 'c', toolName: 'rm', input: {} };
  const invalid: AgentEvent = { ...call, invalid: { message: 'No.' } };
  const preliminary: AgentEvent = {
    type: 'tool-result',
    toolCallId: 'c',
    status: 'ok',
    output: 1,
    preliminary: true,
  };
  const question: AgentEvent = { type: 'question', questionId: 'q', kind: 'approval', toolCallId: 'c' };
  const answer: AgentEvent = { type: 'answer', questionId: 'q', approved: true };
  const denied: AgentEvent = { type: 'tool-result', toolCallId: 'c', status: 'denied' };
  const agent = (parentAgentId?: string): AgentEvent => ({
    type: 'agent-start',
    agentId: 'a',
    name: 'Ada',
    kind: 'agent',
    ...(parentAgentId !== undefined && { parentAgentId }),
  });
  const boss: AgentEvent = { type: 'agent-start', agentId: 'b', name: 'Bob', kind: 'agent' };
  const content: AgentEvent[] = [
    { type: 'text-start', id: 'x', agentId: 'a', stepId: 's' },
    { type: 'text-end', id: 'x' },
  ];

  it.each<[string, AgentEvent[], string[]]>([
    ['a question after an output', [call, preliminary, question], ['q']],
    ['an answer after an output', [call, question, preliminary, answer], ['q']],
    ['a denial after an output', [call, preliminary, denied], ['c']],
    ['a question about an invalid call', [invalid, question], ['q']],
    ['an agent that continues under another parent', [boss, agent(), ...content, agent('b')], ['a']],
    [
      'an agent whose content is discarded',
      [agent(), ...content, { type: 'step-end', stepId: 's', discarded: true }],
      ['a'],
    ],
    ['the usual order', [boss, agent('b'), call, question, answer, preliminary, ...content, agent('b')], []],
  ])('reports %s', (_, events, ids) => {
    const losses: Loss[] = [];
    const encoder = createUIMessageEncoder({ version: 7, onLoss: (loss) => losses.push(loss) });
    transcode(encoder, [start, ...events, complete]);
    expect(losses.filter(({ what }) => what === 'order').map(({ id }) => id)).toEqual(ids);
  });
});
