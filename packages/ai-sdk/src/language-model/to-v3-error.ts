import type { Fault } from '@intertie/core';

/**
 * A real error, so that whoever logs it or throws it sees one. It has no stack: where it is decoded says nothing of where it
 * happened, and to find that out takes longer than to decode a short run.
 */
export function toV3Error(fault: Fault): Error & Partial<Fault> {
  const limit = Object.getOwnPropertyDescriptor(Error, 'stackTraceLimit');
  // Not everywhere, and not where the built-in objects are frozen.
  if (!limit?.writable) return Object.assign(new Error(fault.message), fault);
  const errors = Error as { stackTraceLimit?: unknown };
  errors.stackTraceLimit = 0;
  try {
    return Object.assign(new Error(fault.message), fault);
  } finally {
    errors.stackTraceLimit = limit.value;
  }
}
