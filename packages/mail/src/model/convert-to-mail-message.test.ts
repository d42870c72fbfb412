import type { LanguageModelV3Prompt, LanguageModelV3ToolResultOutput } from '@ai-sdk/provider';
import { describe, expect, it } from 'vitest';
import { convertToMAILMessage } from './convert-to-mail-message.ts';

const user = (text: string): LanguageModelV3Prompt[number] => ({ role: 'user', content: [{ type: 'text', text }] });
const called: LanguageModelV3Prompt[number] = {
  role: 'assistant',
  content: [
    { type: 'text', text: 'Wait.' },
    {
      type: 'tool-call',
      toolCallId: 'c',
      toolName: 'ask',
      input: { q: 1 },
      providerOptions: { mail: { callId: 'w' } },
    },
    { type: 'tool-call', toolCallId: 'own', toolName: 'look', input: {}, providerExecuted: true },
  ],
};
const result = (output: LanguageModelV3ToolResultOutput, toolCallId = 'c'): LanguageModelV3Prompt[number] => ({
  role: 'tool',
  content: [{ type: 'tool-result', toolCallId, toolName: 'ask', output }],
});

describe('convertToMAILMessage', () => {
  it('sends the last user messages after the system prompt', () => {
    const prompt = [{ role: 'system' as const, content: 'Be brief.' }, user('one'), called, user('two'), user('three')];
    expect(convertToMAILMessage(prompt)).toEqual({
      messageBody: 'Be brief.\n\ntwo\n\nthree',
      toolResults: [],
      warnings: [],
    });
    expect(convertToMAILMessage(prompt, { includeSystem: false }).messageBody).toBe('two\n\nthree');
  });

  it.each<[LanguageModelV3ToolResultOutput, string]>([
    [{ type: 'text', value: 'Paris' }, 'Paris'],
    [{ type: 'json', value: { x: 1 } }, '{"x":1}'],
    [{ type: 'error-text', value: 'no' }, 'Error: no'],
    [{ type: 'error-json', value: [1] }, 'Error: [1]'],
    [{ type: 'execution-denied', reason: 'never' }, 'Error: the call was denied: never'],
    [{ type: 'content', value: [{ type: 'text', text: 'a' }] }, 'a'],
  ])('sends the result %j as text with the wire id', (output, content) => {
    expect(convertToMAILMessage([user('x'), called, result(output)]).toolResults).toEqual([{ call_id: 'w', content }]);
  });

  it('omits results that were sent before and results of the swarm', () => {
    const output = { type: 'text' as const, value: 'Paris' };
    expect(convertToMAILMessage([user('x'), called, result(output), user('y')]).toolResults).toEqual([]);
    expect(convertToMAILMessage([user('x'), called, result(output, 'own')]).toolResults).toEqual([]);
  });

  it('includes the conversation with the option transcript', () => {
    const prompt = [user('one'), called, result({ type: 'text', value: 'Paris' }), user('two')];
    expect(convertToMAILMessage(prompt, { transcript: true }).messageBody).toBe(
      'What was said so far:\nUser: one\nAssistant: Wait.\n(ask {"q":1})\n(look {})\nTool: (ask gave Paris)\n\n' +
        'The user now says:\ntwo',
    );
    expect(convertToMAILMessage([user('one')], { transcript: true }).messageBody).toBe('one');
  });

  it('mentions a file and warns', () => {
    const data = new URL('https://example.com/a.pdf');
    const file = { type: 'file' as const, mediaType: 'application/pdf', filename: 'a.pdf', data };
    const { messageBody, warnings } = convertToMAILMessage([{ role: 'user', content: [file] }]);
    expect(messageBody).toBe('[file: a.pdf, application/pdf at https://example.com/a.pdf]');
    expect(warnings).toMatchObject([{ type: 'other', message: expect.stringContaining('a.pdf') as string }]);
  });
});
