import { describe, expect, it } from 'vitest';
import { toFault } from './to-fault.ts';

describe('toFault', () => {
  it('keeps the message and adds the given code', () => {
    expect(toFault(new Error('no'))).toEqual({ message: 'no' });
    expect(toFault('no')).toEqual({ message: 'no' });
    expect(toFault(new Error('no'), 'provider')).toEqual({ message: 'no', code: 'provider' });
  });

  it('keeps the name and the allowed fields, and drops headers and the stack', () => {
    const error = Object.assign(new TypeError('bad'), {
      code: 'E_BAD',
      status: 400,
      headers: { authorization: 'secret' },
    });
    const fault = toFault(error, 'provider');
    expect(fault).toEqual({ message: 'bad', code: 'E_BAD', data: { name: 'TypeError', status: 400 } });
    expect(JSON.stringify(fault)).not.toMatch(/secret|to-fault\.test/);
  });

  it('converts an API error of the AI SDK without its request', () => {
    const error = Object.assign(new Error('Rate limited'), {
      name: 'AI_APICallError',
      url: 'https://example.com/?key=secret',
      requestBodyValues: { prompt: 'secret' },
      statusCode: 429,
      responseHeaders: { 'set-cookie': 'secret' },
      responseBody: '{"error":"slow down"}',
      isRetryable: true,
    });
    expect(toFault(error)).toEqual({
      message: 'Rate limited',
      retryable: true,
      data: { name: 'AI_APICallError', statusCode: 429, responseBody: '{"error":"slow down"}' },
    });
  });

  it('finds code and retryable in aggregated errors', () => {
    const error = Object.assign(new Error('Failed after 2 attempts'), {
      name: 'AI_RetryError',
      reason: 'maxRetriesExceeded',
      errors: [Object.assign(new Error('busy'), { code: 'overloaded', isRetryable: true }), 'gone'],
    });
    expect(toFault(error)).toEqual({
      message: 'Failed after 2 attempts',
      code: 'overloaded',
      retryable: true,
      data: {
        name: 'AI_RetryError',
        reason: 'maxRetriesExceeded',
        causes: [{ message: 'busy', code: 'overloaded' }, { message: 'gone' }],
      },
    });
  });

  it('lists the causes, even if they are circular', () => {
    const refused = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED', syscall: 'connect' });
    const failed = new TypeError('fetch failed', { cause: refused });
    refused.cause = failed;
    expect(toFault(failed)).toEqual({
      message: 'fetch failed',
      code: 'ECONNREFUSED',
      data: {
        name: 'TypeError',
        causes: [{ message: 'connect ECONNREFUSED', code: 'ECONNREFUSED', syscall: 'connect' }],
      },
    });
  });

  it('uses the name of a DOMException as its code', () => {
    expect(toFault(new DOMException('Stopped', 'AbortError'))).toMatchObject({
      message: 'Stopped',
      code: 'AbortError',
    });
  });

  it('returns a fault unchanged', () => {
    const fault = { message: 'no', code: 'idle', retryable: false, data: { a: [1] } };
    expect(toFault(fault, 'other')).toEqual(fault);
  });

  it('converts plain objects', () => {
    expect(toFault({ message: 'no', type: 'invalid_request', code: 42 })).toEqual({
      message: 'no',
      code: '42',
      data: { type: 'invalid_request' },
    });
    expect(toFault({ detail: 'no' }).message).toBe('{"detail":"no"}');
  });

  it.each([
    ['undefined', undefined],
    ['null', null],
    ['an empty string', ''],
    ['an empty object', {}],
    ['a symbol', Symbol('x')],
    ['a function', () => 1],
    ['a BigInt', 1n],
    [
      'an error whose message throws',
      Object.defineProperty(new Error('x'), 'message', {
        get: () => {
          throw new Error('y');
        },
      }),
    ],
    [
      'a proxy that throws',
      new Proxy(
        {},
        {
          get: () => {
            throw new Error('y');
          },
          ownKeys: () => {
            throw new Error('z');
          },
        },
      ),
    ],
    ['a revoked proxy', revoked()],
  ])('converts %s without throwing', (_, value) => {
    const fault = toFault(value);
    expect(fault.message).not.toBe('');
    expect(JSON.parse(JSON.stringify(fault))).toEqual(fault);
  });

  it('limits the size of the data', () => {
    const error = Object.assign(new Error('x'), { data: 'y'.repeat(1_000_000) });
    expect(JSON.stringify(toFault(error)).length).toBeLessThan(10_000);
  });
});

function revoked(): object {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
}
