import { expect, it } from 'vitest';
import { decode, finished } from '../../test/decode-events.ts';

const start = (messageId: string, more: object = {}): object => ({ type: 'TEXT_MESSAGE_START', messageId, ...more });
const say = (messageId: string, delta: string): object => ({ type: 'TEXT_MESSAGE_CONTENT', messageId, delta });
const end = (messageId: string, more: object = {}): object => ({ type: 'TEXT_MESSAGE_END', messageId, ...more });

it('texts that interleave, one that is opened again, and reasoning under the id of a text', () => {
  const { parts } = decode([
    start('a'),
    start('b'),
    say('a', 'A1'),
    say('b', 'B1'),
    say('a', 'A2'),
    end('a'),
    end('b'),
    start('a'),
    say('a', 'A3'),
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

it('the words of others are told when they are whole, and a speaker’s name is a voice', () => {
  const { events } = decode([
    start('u', { role: 'user', name: 'Ann' }),
    say('u', 'Fas'),
    say('u', 'ter'),
    end('u'),
    start('d', { role: 'developer' }),
    say('d', 'Be brief.'),
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

it('an agent’s own metadata is kept, of the end where it says more', () => {
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
  ['words of no text', say('x', 'Hi')],
  ['the end of no text', end('x')],
  ['a text without an id', { type: 'TEXT_MESSAGE_START' }],
  ['words that are none', { type: 'REASONING_MESSAGE_CONTENT', messageId: 'r', delta: 5 }],
])('%s is kept as it came, with a notice', (_, event) => {
  const opened = { type: 'REASONING_MESSAGE_START', messageId: 'r', role: 'reasoning' };
  const { events, parts } = decode([opened, event, { type: 'REASONING_MESSAGE_END', messageId: 'r' }, finished]);
  expect(events.filter(({ type }) => type === 'raw')).toMatchObject([{ dialect: 'ag-ui', value: event }]);
  expect(events.filter(({ type }) => type === 'notice')).toMatchObject([{ level: 'warning', code: 'malformed' }]);
  expect(parts).toHaveLength(1);
  expect(events.at(-1)).toMatchObject({ outcome: 'complete' });
});
