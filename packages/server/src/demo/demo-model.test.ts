import { expect, it } from 'vitest';
import { selectScript } from './demo-script.ts';

it.each([
  ['What is the weather in Lisbon?', 'weather'],
  ['Send an email to Ada', 'sendEmail'],
])('answers %j without the tool %s if the agent has none', (text, name) => {
  const withTool = selectScript({ text, results: [], tools: [name] });
  expect(withTool.at(-1)).toMatchObject({ call: name });
  const [answer, ...more] = selectScript({ text, results: [], tools: [] });
  expect(answer).toMatchObject({ kind: 'text', text: expect.stringContaining(`\`${name}\``) });
  expect(more).toEqual([]);
});
