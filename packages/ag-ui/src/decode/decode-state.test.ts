import { expect, it } from 'vitest';
import { decode, finished } from '../../test/decode-events.ts';

const patch = [{ op: 'add', path: '/n', value: 1 }];

it.each([
  ['its own field', { type: 'STATE_DELTA', delta: patch }],
  ['that of the activities', { type: 'STATE_DELTA', patch }],
])('a patch before any state is one of an empty state, in %s', (_, event) => {
  const { events } = decode([event, event, finished]);
  expect(events.filter(({ type }) => type.startsWith('state'))).toMatchObject([
    { type: 'state-snapshot', state: {} },
    { type: 'state-delta', patch },
    { type: 'state-delta', patch },
  ]);
});

it('a snapshot is the state, whatever it is', () => {
  const { events } = decode([{ type: 'STATE_SNAPSHOT', snapshot: null }, { type: 'STATE_SNAPSHOT' }, finished]);
  expect(events.filter(({ type }) => type === 'state-snapshot')).toMatchObject([{ state: null }, { state: null }]);
});
