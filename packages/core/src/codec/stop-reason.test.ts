import { describe, expect, it } from 'vitest';
import { toAbortEnd } from './stop-reason.ts';

describe('endByAbort', () => {
  it.each<[string, unknown, object]>([
    ['nothing said', undefined, { by: 'user' }],
    ["the platform's own words", new DOMException('This operation was aborted', 'AbortError'), { by: 'user' }],
    ['a time limit', new DOMException('Timed out', 'TimeoutError'), { by: 'system', message: 'Timed out' }],
    ['a sentence', 'Enough', { by: 'user', message: 'Enough' }],
    ['an error', new Error('Enough'), { by: 'user', message: 'Enough' }],
    ['a reason', { by: 'system', message: 'shutdown' }, { by: 'system', message: 'shutdown' }],
    ['half a reason', { by: 'system' }, { by: 'system' }],
    ['something else', { by: 'nobody', message: 7 }, { by: 'user' }],
  ])('reads %s', (_, reason, end) => {
    expect(toAbortEnd(reason)).toEqual({ reason: 'aborted', ...end });
  });
});
