import { expect, it } from 'vitest';
import { decode, finished } from '../../test/decode-events.ts';

const plan = (content: object, fields: object = {}): object => ({
  type: 'ACTIVITY_SNAPSHOT',
  messageId: 'p',
  activityType: 'PLAN',
  content,
  ...fields,
});

it('replaces an activity unless the snapshot has replace: false', () => {
  const { parts } = decode([
    plan({ n: 1 }, { replace: false }),
    plan({ n: 2 }),
    plan({ n: 3 }, { replace: false }),
    finished,
  ]);
  expect(parts).toMatchObject([{ type: 'data', id: 'p', name: 'PLAN', data: { n: 2 } }]);
});

it('unwraps the value of an activity and its patches', () => {
  const { parts } = decode([
    plan({ value: [1] }, { metadata: { intertie: { isValue: true } } }),
    { type: 'ACTIVITY_DELTA', messageId: 'p', patch: [{ op: 'add', path: '/value/-', value: 2 }] },
    { type: 'ACTIVITY_DELTA', messageId: 'p', patch: [{ op: 'move', from: '/value/0', path: '/value/1' }] },
    finished,
  ]);
  expect(parts).toMatchObject([{ id: 'p', data: [2, 1] }]);
});

it('decodes custom events as transient data, and our own as their canonical event', () => {
  const { events, parts } = decode([
    { type: 'CUSTOM', name: 'acme.note', value: { n: 1 } },
    { type: 'CUSTOM', name: 'intertie.source', value: { id: 's', sourceType: 'url', url: 'https://a.example' } },
    { type: 'CUSTOM', name: 'intertie.source', value: 'no source' },
    finished,
  ]);
  expect(events.filter(({ type }) => type === 'data')).toMatchObject([
    { name: 'acme.note', data: { n: 1 }, transient: true },
    { name: 'intertie.source', data: 'no source', transient: true },
  ]);
  expect(parts).toMatchObject([{ type: 'source', id: 's', url: 'https://a.example' }]);
});

it('omits the messages of an agent behind an Intertie agent from the metadata', () => {
  const metadata = { topic: 'tea', 'ag-ui': { messages: [{ id: 'm1', calls: ['c1'] }] } };
  const { events } = decode([{ type: 'CUSTOM', name: 'intertie.metadata', value: { metadata } }, finished]);
  expect(events).toContainEqual({ type: 'metadata', metadata: { topic: 'tea' } });
});

it.each([
  ['a patch of an unknown activity', { type: 'ACTIVITY_DELTA', messageId: 'x', patch: [] }],
  ['a patch in the wrong field', { type: 'ACTIVITY_DELTA', messageId: 'p', delta: [] }],
  ['an activity whose content is not an object', plan([] as object, { content: 'none' })],
  ['a custom event without a name', { type: 'CUSTOM', value: 1 }],
])('preserves %s as raw', (_, event) => {
  const { events } = decode([plan({ n: 1 }), event, finished]);
  expect(events.filter(({ type }) => type === 'raw')).toMatchObject([{ value: event }]);
  expect(events.at(-1)).toMatchObject({ outcome: 'complete' });
});
