import type { LanguageModelV3CallOptions, SharedV3Warning } from '@ai-sdk/provider';
import { describe, expect, it } from 'vitest';
import { getCallWarnings } from './call-warnings.ts';

const getFeatures = (warnings: SharedV3Warning[]) =>
  warnings.map((warning) => ('feature' in warning ? warning.feature : 'message'));

const ask = { type: 'function', name: 'ask_user', inputSchema: {} } as const;
const search = { type: 'provider', id: 'openai.web_search', name: 'search', args: {} } as const;

describe('getCallWarnings', () => {
  it.each<[Partial<LanguageModelV3CallOptions> & { reasoning?: string }, string[]]>([
    [{}, []],
    [{ temperature: 0, topK: 1, seed: 1, maxOutputTokens: 1 }, ['maxOutputTokens', 'temperature', 'topK', 'seed']],
    [{ topP: 1, stopSequences: [], presencePenalty: 0 }, ['stopSequences', 'topP', 'presencePenalty']],
    [{ frequencyPenalty: 0, responseFormat: { type: 'json' } }, ['frequencyPenalty', 'responseFormat']],
    [{ responseFormat: { type: 'text' }, toolChoice: { type: 'auto' } }, []],
    [{ toolChoice: { type: 'required' } }, ['toolChoice']],
    [{ reasoning: 'provider-default' }, []],
    [{ reasoning: 'high' }, ['reasoning']],
    [{ tools: [ask, search] }, ['tool ask_user', 'tool search']],
  ])('warns about unsupported settings in %j', (options, features) => {
    expect(getFeatures(getCallWarnings({ prompt: [], ...options }, {}, true))).toEqual(features);
  });

  it('accepts a tool that breakpointTools lists', () => {
    expect(getFeatures(getCallWarnings({ prompt: [], tools: [ask] }, { breakpointTools: ['ask_user'] }, true))).toEqual(
      [],
    );
  });

  it('accepts a tool that the swarm has called in this conversation', () => {
    const call = { type: 'tool-call', toolCallId: 'c', toolName: 'ask_user', input: {} } as const;
    const called = (mail: Record<string, string>): LanguageModelV3CallOptions => ({
      prompt: [{ role: 'assistant', content: [{ ...call, providerOptions: { mail } }] }],
      tools: [ask],
    });
    expect(getFeatures(getCallWarnings(called({ taskId: 'T' }), {}, true))).toEqual([]);
    expect(getFeatures(getCallWarnings(called({}), {}, true))).toEqual(['tool ask_user']);
  });

  it('warns about a tool that breakpointTools does not list', () => {
    expect(getFeatures(getCallWarnings({ prompt: [], tools: [ask] }, { breakpointTools: ['other'] }, true))).toEqual([
      'tool ask_user',
    ]);
  });

  it('warns about settings that require a token if there is none', () => {
    expect(getFeatures(getCallWarnings({ prompt: [], tools: [ask] }, { maxSteps: 3 }, false))).toEqual([
      'tool ask_user',
      'message',
      'maxSteps',
    ]);
  });
});
