import { eventTypes } from '@intertie/core/internal';
import { describe, expect, it } from 'vitest';
import { getFamily, isDelta } from './event-family.ts';

describe('getFamily', () => {
  it('classifies every canonical event', () => {
    const families = Object.fromEntries([...eventTypes].map((type) => [type, getFamily(type)]));
    expect(families).toMatchObject({
      'run-start': 'run',
      'message-snapshot': 'run',
      metadata: 'run',
      'step-end': 'agent',
      'text-delta': 'text',
      'reasoning-end': 'reasoning',
      'tool-input-delta': 'tool',
      'tool-result': 'tool',
      question: 'people',
      interjection: 'people',
      'data-delta': 'data',
      'state-snapshot': 'data',
      file: 'data',
      notice: 'notice',
    });
  });

  it.each([
    ['TEXT_MESSAGE_CONTENT', 'text'],
    ['TOOL_CALL_ARGS', 'tool'],
    ['SUBAGENT_STARTED', 'agent'],
    ['RUN_FINISHED', 'run'],
    ['STATE_DELTA', 'data'],
    ['tool-approval-request', 'people'],
    ['data-agent', 'data'],
    ['new_message', 'run'],
    ['node:start', 'agent'],
  ] as const)('classifies %s of another protocol as %s', (type, family) => {
    expect(getFamily(type)).toBe(family);
  });

  it('recognizes deltas', () => {
    expect(['text-delta', 'TEXT_MESSAGE_CONTENT', 'TOOL_CALL_ARGS'].every(isDelta)).toBe(true);
    expect(['text-start', 'TEXT_MESSAGE_END', 'tool-call'].some(isDelta)).toBe(false);
  });
});
