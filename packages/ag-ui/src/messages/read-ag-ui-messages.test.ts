import { expect, it } from 'vitest';
import { readAGUIMessages } from './read-ag-ui-messages.ts';
import { toAGUIMessages } from '../encode/to-ag-ui-messages.ts';

it('preserves encrypted values of texts, reasoning, calls and results', () => {
  const call = {
    id: 'c',
    type: 'function',
    function: { name: 'search', arguments: '{}' },
    encryptedValue: 'of the call',
  };
  const messages = [
    { id: 'r', role: 'reasoning', content: 'Hm.', encryptedValue: 'of the reasoning' },
    { id: 'a', role: 'assistant', content: 'I look.', toolCalls: [call], encryptedValue: 'of the text' },
    { id: 'x', role: 'tool', toolCallId: 'c', content: 'Found.', encryptedValue: 'of the result' },
  ];
  const [answer] = readAGUIMessages(messages);
  expect(answer?.content.parts).toMatchObject([
    {},
    {},
    { toolCallId: 'c', resultMetadata: { 'ag-ui': { encryptedValue: 'of the result' } } },
  ]);
  expect(toAGUIMessages(answer!, { resultIds: new Map([['c', 'x']]) })).toMatchObject(messages);
});
