import { expect, it } from 'vitest';
import { toV3Error } from './to-v3-error.ts';

const fault = { message: 'The swarm is down.', code: 'down', retryable: true };

it('creates an error with the fields of the fault and no stack trace', () => {
  const error = toV3Error(fault);
  expect(error).toBeInstanceOf(Error);
  expect(error).toMatchObject(fault);
  expect(String(error)).toBe('Error: The swarm is down.');
  expect(error.stack).toBe('Error: The swarm is down.');
});

it('does not change the stack traces of other errors', () => {
  const { stackTraceLimit } = Error;
  toV3Error(fault);
  expect(Error.stackTraceLimit).toBe(stackTraceLimit);
  expect(new Error('other').stack).toContain('v3-error.test');
});

it('creates an error if stackTraceLimit is read-only', () => {
  const limit = Object.getOwnPropertyDescriptor(Error, 'stackTraceLimit')!;
  Object.defineProperty(Error, 'stackTraceLimit', { ...limit, writable: false });
  try {
    expect(toV3Error(fault)).toMatchObject(fault);
  } finally {
    Object.defineProperty(Error, 'stackTraceLimit', limit);
  }
});
