import { expect, it } from 'vitest';
import { decode, finished } from '../../test/decode-events.ts';

const patch = [{ op: 'add', path: '/n', value: 1 }];

it.each([
  ['`delta`', { type: 'STATE_DELTA', delta: patch }],
  ['`patch`', { type: 'STATE_DELTA', patch }],
])('applies a patch in %s without a state to an empty state', (_, event) => {
  const { events } = decode([event, event, finished]);
  expect(events.filter(({ type }) => type.startsWith('state'))).toMatchObject([
    { type: 'state-snapshot', state: {} },
    { type: 'state-delta', patch },
    { type: 'state-delta', patch },
  ]);
});

it('decodes a snapshot of any value', () => {
  const { events } = decode([{ type: 'STATE_SNAPSHOT', snapshot: null }, { type: 'STATE_SNAPSHOT' }, finished]);
  expect(events.filter(({ type }) => type === 'state-snapshot')).toMatchObject([{ state: null }, { state: null }]);
});
