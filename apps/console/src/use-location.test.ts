import { expect, it } from 'vitest';
import { parseLocation } from './use-location.ts';

it('is what the address says, and the first of its kind where that is nothing', () => {
  expect(parseLocation('?thread=a.b%2Fc&pane=tape&view=inspect')).toEqual({
    thread: 'a.b/c',
    pane: 'tape',
    view: 'inspect',
  });
  expect(parseLocation('?pane=nonsense')).toEqual({ thread: undefined, pane: 'streams', view: 'chat' });
});
