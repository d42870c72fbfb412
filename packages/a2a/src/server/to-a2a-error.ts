import { A2AError, RequestMalformedError, TaskNotFoundError, UnsupportedOperationError } from '@a2a-js/sdk/errors';
import { RunRefusedError, StoreError } from '@intertie/core';
import { RequestBodyError } from '@intertie/core/http';

/** Failure without an error of its own in A2A. Status and wait apply to HTTP+JSON; JSON-RPC has one code for all. */
export class InternalA2AError extends A2AError {
  readonly status: number;
  readonly retryAfter: number | undefined;

  constructor(
    message: string,
    { status = 500, retryAfter }: { status?: number; retryAfter?: number | undefined } = {},
  ) {
    super(message);
    this.status = status;
    this.retryAfter = retryAfter;
  }
}

/** Converts an error to one of A2A. Unknown errors are passed to `onError`, and clients see no details of them. */
export function toA2AError(error: unknown, onError?: (error: unknown) => void): A2AError {
  if (error instanceof A2AError) return error;
  if (error instanceof RunRefusedError) return fromRefusal(error);
  if (error instanceof RequestBodyError) return new RequestMalformedError(`${error.message} ${error.fix}`);
  if (error instanceof StoreError && error.code === 'invalid') return new RequestMalformedError(error.message);
  onError?.(error);
  return new InternalA2AError('Internal error');
}

function fromRefusal(error: RunRefusedError): A2AError {
  const { code, message, status, retryAfter } = error;
  switch (code) {
    case 'not-found':
      return new TaskNotFoundError(message);
    case 'key-reused':
    case 'run-exists':
      return new RequestMalformedError(message);
    case 'queue-full':
    case 'closing':
    case 'overloaded':
      return new InternalA2AError(message, { status, retryAfter });
    case 'busy':
    case 'pending':
    case 'already-answered':
    case 'expired':
    case 'cancelled':
    case 'nothing-to-continue':
      return new UnsupportedOperationError(message);
  }
}
