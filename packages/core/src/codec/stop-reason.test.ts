import { describe, expect, it } from 'vitest';
import { toAbortEnd } from './stop-reason.ts';

describe('toAbortEnd', () => {
  it.each<[string, unknown, object]>([
    ['a missing reason', undefined, { by: 'user' }],
    ['an AbortError', new DOMException('This operation was aborted', 'AbortError'), { by: 'user' }],
    ['a TimeoutError', new DOMException('Timed out', 'TimeoutError'), { by: 'system', message: 'Timed out' }],
    ['a string', 'Enough', { by: 'user', message: 'Enough' }],
    ['an error', new Error('Enough'), { by: 'user', message: 'Enough' }],
    ['a StopReason', { by: 'system', message: 'shutdown' }, { by: 'system', message: 'shutdown' }],
    ['a StopReason without a message', { by: 'system' }, { by: 'system' }],
    ['an object of another shape', { by: 'unknown', message: 7 }, { by: 'user' }],
  ])('converts %s', (_, reason, end) => {
    expect(toAbortEnd(reason)).toEqual({ reason: 'aborted', ...end });
  });
});
