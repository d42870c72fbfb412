import { expect, it } from 'vitest';
import { parseLocation } from './use-location.ts';

it('parses the query and uses defaults for missing and invalid values', () => {
  expect(parseLocation('?thread=a.b%2Fc&pane=tape&view=inspect')).toEqual({
    thread: 'a.b/c',
    pane: 'tape',
    view: 'inspect',
  });
  expect(parseLocation('?thread=a&message=m')).toMatchObject({ thread: 'a', message: 'm' });
  expect(parseLocation('?pane=nonsense')).toEqual({ thread: undefined, pane: 'streams', view: 'chat' });
});
