import type { LanguageModelV3Prompt } from '@ai-sdk/provider';
import { describe, expect, it } from 'vitest';
import { planRequest } from './plan-request.ts';
import { toResumeToken } from '../shared/resume-token.ts';

const user = (text: string): LanguageModelV3Prompt[number] => ({ role: 'user', content: [{ type: 'text', text }] });
const mail = { taskId: 'T' };
const toolCalls: LanguageModelV3Prompt[number] = {
  role: 'assistant',
  content: ['a', 'b'].map((id) => ({
    type: 'tool-call',
    toolCallId: id,
    toolName: 'ask',
    input: {},
    providerOptions: { mail: { ...mail, callId: `wire-${id}` } },
  })),
};
const results: LanguageModelV3Prompt[number] = {
  role: 'tool',
  content: ['a', 'b'].map((toolCallId) => ({
    type: 'tool-result',
    toolCallId,
    toolName: 'ask',
    output: { type: 'text', value: `result ${toolCallId}` },
  })),
};
const plan = (prompt: LanguageModelV3Prompt, canAnswer = true) =>
  planRequest(prompt, {}, { generateId: () => 'new', canAnswer }).request;

describe('planRequest', () => {
  it('resumes a breakpoint with the results at the end of the prompt', () => {
    expect(plan([user('x'), toolCalls, results])).toEqual({
      taskId: 'T',
      resumeFrom: 'breakpoint_tool_call',
      body: '',
      toolResults: [
        { call_id: 'wire-a', content: 'result a' },
        { call_id: 'wire-b', content: 'result b' },
      ],
    });
  });

  it('appends user text after the results to the last result', () => {
    expect(plan([user('x'), toolCalls, results, user('In metres,'), user('please.')])).toEqual({
      taskId: 'T',
      resumeFrom: 'breakpoint_tool_call',
      body: '',
      toolResults: [
        { call_id: 'wire-a', content: 'result a' },
        { call_id: 'wire-b', content: 'result b\n\nThe user adds: In metres,\n\nplease.' },
      ],
    });
  });

  it('sends only the user text without a token', () => {
    expect(plan([user('x'), toolCalls, results, user('please')], false)).toEqual({
      taskId: 'T',
      resumeFrom: 'user_response',
      body: 'please',
    });
  });

  it('ignores results before an answer', () => {
    const answer: LanguageModelV3Prompt[number] = {
      role: 'assistant',
      content: [{ type: 'text', text: 'Done.', providerOptions: { mail } }],
    };
    expect(plan([user('x'), toolCalls, results, answer, user('more')])).toEqual({
      taskId: 'T',
      resumeFrom: 'user_response',
      body: 'more',
    });
  });

  it('answers every pending call of a resume token with the text of the user', () => {
    const taskId = toResumeToken({ taskId: 'T', calls: ['wire-a', 'wire-b'] });
    const planned = planRequest([user('Paris')], { taskId }, { generateId: () => 'new', canAnswer: true });
    expect(planned.request).toEqual({
      taskId: 'T',
      resumeFrom: 'breakpoint_tool_call',
      body: '',
      toolResults: [
        { call_id: 'wire-a', content: 'Paris' },
        { call_id: 'wire-b', content: 'Paris' },
      ],
    });
  });

  it('does not answer the calls of a resume token again once the history has a later answer of the task', () => {
    const taskId = toResumeToken({ taskId: 'T', calls: ['wire-a'] });
    const answer: LanguageModelV3Prompt[number] = {
      role: 'assistant',
      content: [{ type: 'text', text: 'Done.', providerOptions: { mail } }],
    };
    const prompt = [user('Paris'), answer, user('Thanks')];
    const planned = planRequest(prompt, { taskId }, { generateId: () => 'new', canAnswer: true });
    expect(planned.request).toEqual({ taskId: 'T', resumeFrom: 'user_response', body: 'Thanks' });
  });

  it('sends the text as a new message with resumeFrom "user_response"', () => {
    const settings = { taskId: toResumeToken({ taskId: 'T', calls: ['a'] }), resumeFrom: 'user_response' } as const;
    const planned = planRequest([user('Hi')], settings, { generateId: () => 'new', canAnswer: true });
    expect(planned.request).toEqual({ taskId: 'T', resumeFrom: 'user_response', body: 'Hi' });
  });
});
