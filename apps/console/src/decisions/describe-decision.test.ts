import type { Json } from '@intertie/core';
import { describe, expect, it } from 'vitest';
import { acceptsText, describeDecision, findChoices } from './describe-decision.ts';

const tool = { id: 'c', kind: 'client-tool', toolCallId: 'c', toolName: 'ask_user' } as const;
const input = (schema?: Json) =>
  ({
    id: 'q',
    kind: 'input',
    question: { questionId: 'q', kind: 'input', message: 'When?', ...(schema !== undefined && { schema }) },
  }) as const;

describe('describeDecision', () => {
  it('shows the question of a tool, or else the name of the tool', () => {
    expect(describeDecision({ ...tool, input: { question: 'Which?' } })).toBe('Which?');
    expect(describeDecision({ ...tool, input: {} })).toBe('Result of ask_user');
  });
});

describe('acceptsText', () => {
  it('accepts text for questions without a schema and for text schemas only', () => {
    expect(acceptsText({ ...tool, input: { question: 'Which?' } })).toBe(true);
    expect(acceptsText({ ...tool, input: { budget: 4 } })).toBe(false);
    expect(acceptsText(input())).toBe(true);
    expect(acceptsText(input({ type: 'string' }))).toBe(true);
    expect(acceptsText(input({ type: 'object', properties: {} }))).toBe(false);
  });
});

describe('findChoices', () => {
  it('returns lists of texts only', () => {
    expect(findChoices({ choices: ['a', 'b'] })).toEqual(['a', 'b']);
    expect(findChoices({ options: [1] })).toBeUndefined();
  });
});
