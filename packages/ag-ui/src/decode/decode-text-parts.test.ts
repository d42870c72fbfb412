import { expect, it } from 'vitest';
import { decode, finished } from '../../test/decode-events.ts';

const start = (messageId: string, fields: object = {}): object => ({
  type: 'TEXT_MESSAGE_START',
  messageId,
  ...fields,
});
const content = (messageId: string, delta: string): object => ({ type: 'TEXT_MESSAGE_CONTENT', messageId, delta });
const end = (messageId: string, fields: object = {}): object => ({ type: 'TEXT_MESSAGE_END', messageId, ...fields });

it('decodes interleaved and reopened texts, and reasoning with the id of a text', () => {
  const { parts } = decode([
    start('a'),
    start('b'),
    content('a', 'A1'),
    content('b', 'B1'),
    content('a', 'A2'),
    end('a'),
    end('b'),
    start('a'),
    content('a', 'A3'),
    end('a'),
    { type: 'REASONING_MESSAGE_START', messageId: 'b', role: 'reasoning' },
    { type: 'REASONING_MESSAGE_CONTENT', messageId: 'b', delta: 'Hm.' },
    { type: 'REASONING_MESSAGE_END', messageId: 'b' },
    finished,
  ]);
  expect(parts).toMatchObject([
    { type: 'text', id: 'a', text: 'A1A2' },
    { type: 'text', id: 'b', text: 'B1' },
    { type: 'text', text: 'A3' },
    { type: 'reasoning', reasoning: 'Hm.' },
  ]);
  expect(new Set(parts.map((part) => (part as { id: string }).id)).size).toBe(4);
});

it('decodes texts of other roles as interjections, and a name as a voice', () => {
  const { events } = decode([
    start('u', { role: 'user', name: 'Ann' }),
    content('u', 'Fas'),
    content('u', 'ter'),
    end('u'),
    start('d', { role: 'developer' }),
    content('d', 'Be brief.'),
    end('d'),
    start('a', { name: 'Bob' }),
    end('a'),
    finished,
  ]);
  expect(events.filter(({ type }) => type === 'interjection')).toMatchObject([
    { id: 'u', role: 'user', name: 'Ann', parts: [{ type: 'text', text: 'Faster' }] },
    { id: 'd', role: 'system', parts: [{ type: 'text', text: 'Be brief.' }] },
  ]);
  expect(events.find(({ type }) => type === 'agent-start')).toMatchObject({ kind: 'voice', name: 'Bob' });
});

it('preserves metadata of the start, or of the end if it differs', () => {
  const { parts } = decode([
    start('a', { metadata: { acme: 1 } }),
    end('a', { metadata: { acme: 2 } }),
    start('b', { metadata: { acme: 1 } }),
    end('b', { metadata: { acme: 1 } }),
    finished,
  ]);
  expect(parts).toMatchObject([
    { id: 'a', providerMetadata: { 'ag-ui': { metadata: { acme: 2 } } } },
    { id: 'b', providerMetadata: { 'ag-ui': { metadata: { acme: 1 } } } },
  ]);
});

it.each([
  ['content of an unknown text', content('x', 'Hi')],
  ['the end of an unknown text', end('x')],
  ['a text without an id', { type: 'TEXT_MESSAGE_START' }],
  ['a delta that is not a string', { type: 'REASONING_MESSAGE_CONTENT', messageId: 'r', delta: 5 }],
])('preserves %s as raw, with a notice', (_, event) => {
  const opened = { type: 'REASONING_MESSAGE_START', messageId: 'r', role: 'reasoning' };
  const { events, parts } = decode([opened, event, { type: 'REASONING_MESSAGE_END', messageId: 'r' }, finished]);
  expect(events.filter(({ type }) => type === 'raw')).toMatchObject([{ dialect: 'ag-ui', value: event }]);
  expect(events.filter(({ type }) => type === 'notice')).toMatchObject([{ level: 'warning', code: 'malformed' }]);
  expect(parts).toHaveLength(1);
  expect(events.at(-1)).toMatchObject({ outcome: 'complete' });
});
