import { expect, it } from 'vitest';
import type { ModelCallInfo } from '../../api.ts';
import { createCallProgram } from './call-as-program.ts';

const call: ModelCallInfo = {
  kind: 'model',
  at: 0,
  provider: 'anthropic.messages',
  model: 'claude-sonnet-4-5',
  prompt: [
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content: [{ type: 'text', text: 'Say "hi".' }] },
  ],
  tools: [{ type: 'function', name: 'time', description: 'The time', inputSchema: { type: 'object' } }],
  settings: { temperature: 0.5, toolChoice: { type: 'auto' } },
};

it('creates a program with the messages, tools and settings of the call', () => {
  expect(createCallProgram(call)).toBe(`import { generateText, jsonSchema, tool } from 'ai';
import { anthropic } from '@ai-sdk/anthropic';

const result = await generateText({
  model: anthropic("claude-sonnet-4-5"),
  allowSystemInMessages: true,
  messages: [
    {"role":"system","content":"Be brief."},
    {"role":"user","content":[{"type":"text","text":"Say \\"hi\\"."}]},
  ],
  tools: {
    "time": tool({ description: "The time", inputSchema: jsonSchema({"type":"object"}) }),
  },
  temperature: 0.5,
  toolChoice: "auto",
});
console.log(result.text, result.toolCalls, result.usage);
`);
});

it('calls a model of an unknown provider through the gateway', () => {
  const program = createCallProgram({ ...call, provider: 'acme', model: 'large', tools: [] });
  expect(program).toContain('model: "acme/large"');
  expect(program).not.toContain('jsonSchema');
});
