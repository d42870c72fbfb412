import type { Fault } from '@intertie/core';

/**
 * Converts a fault to an `Error`, which callers can log and throw. Skips the stack trace: it would only show this decoder, and
 * capturing it takes longer than decoding a short run.
 */
export function toV3Error(fault: Fault): Error & Partial<Fault> {
  const limit = Object.getOwnPropertyDescriptor(Error, 'stackTraceLimit');
  // Only V8 has the property, and frozen built-ins make it read-only.
  if (!limit?.writable) return Object.assign(new Error(fault.message), fault);
  const errors = Error as { stackTraceLimit?: unknown };
  errors.stackTraceLimit = 0;
  try {
    return Object.assign(new Error(fault.message), fault);
  } finally {
    errors.stackTraceLimit = limit.value;
  }
}
