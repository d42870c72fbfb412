import { DatabaseUnavailableError, RunRefusedError, StoreError } from '@intertie/core';
import { RequestBodyError } from '@intertie/core/http';
import type { ErrorCode } from '../errors/errors.ts';
import { IntertieError } from '../errors/intertie-error.ts';

/** Maps an error of a store, a run or a request body to the catalogue. Undefined for unexpected errors. */
export function toIntertieError(error: unknown): IntertieError | undefined {
  if (error instanceof IntertieError) return error;
  if (error instanceof RunRefusedError) return fromRefusal(error);
  if (error instanceof StoreError) return fromStore(error);
  if (error instanceof RequestBodyError) return new IntertieError(error.code, error.message);
  if (isDatabaseAway(error)) return new IntertieError('database-away', undefined, { cause: error });
  return undefined;
}

function fromRefusal(error: RunRefusedError): IntertieError {
  const { refusal, message } = error;
  switch (refusal.code) {
    case 'not-found':
      return new IntertieError(
        refusal.what === 'run' ? 'no-run' : refusal.what === 'thread' ? 'no-thread' : 'no-message',
        message,
      );
    case 'busy':
    case 'queue-full':
      return new IntertieError(refusal.code, message, { data: { runId: refusal.live.runId } });
    case 'run-exists':
      return new IntertieError('run-exists', message, { data: { runId: refusal.run.runId } });
    case 'pending': {
      const open = refusal.decisions.map(({ id, kind, runId }) => ({ id, kind, runId }));
      return new IntertieError('pending', message, { data: { open } });
    }
    case 'key-reused':
    case 'already-answered':
    case 'expired':
    case 'cancelled':
    case 'nothing-to-continue':
      return new IntertieError(refusal.code, message);
    case 'closing':
    case 'overloaded':
      return new IntertieError(refusal.code, message, { headers: { 'retry-after': String(error.retryAfter ?? 1) } });
  }
}

const fromStoreCode: { [code in StoreError['code']]: ErrorCode } = {
  'not-found': 'not-found',
  invalid: 'bad-request',
  'version-conflict': 'version-conflict',
  'content-conflict': 'content-conflict',
  'key-reused': 'key-reused',
  busy: 'busy',
};

function fromStore(error: StoreError): IntertieError {
  return new IntertieError(fromStoreCode[error.code], error.message);
}

/** Network error codes, and Postgres error classes of an unavailable server or exhausted connections. */
const awayCodes = /^(ECONN|ENOTFOUND|EAI_AGAIN|ETIMEDOUT|EHOSTUNREACH|EPIPE|08|53|57P0)/;

function isDatabaseAway(error: unknown): boolean {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if (cause instanceof DatabaseUnavailableError) return true;
    const { code } = cause as { code?: unknown };
    if (typeof code === 'string' && awayCodes.test(code)) return true;
    if (/timeout exceeded when trying to connect|Connection terminated/.test(cause.message)) return true;
  }
  return false;
}
