import { RunRefusedError, StoreError } from '@intertie/core';
import type { StoreErrorCode } from '@intertie/core/store';
import { RequestBodyError } from '@intertie/core/http';
import { ChatRequestError } from './chat-request.ts';

/** A request that is understood and cannot be met as things stand. */
export class ChatRefusedError extends Error {
  override readonly name = 'ChatRefusedError';
  readonly status: 404 | 409;
  readonly code: string;

  constructor(status: 404 | 409, code: string, message: string) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

const storeStatuses: Record<StoreErrorCode, number> = {
  'not-found': 404,
  invalid: 400,
  'version-conflict': 409,
  'content-conflict': 409,
  'key-reused': 422,
  busy: 409,
};

/** What a chat is told instead of a stream. */
export function refusal(status: number, code: string, message: string, headers: Record<string, string> = {}): Response {
  return Response.json({ error: { code, message } }, { status, headers });
}

/** The answer to a request that failed; rethrows what is nobody's fault but ours. A hook may have thrown a `Response`. */
export function refusalOf(error: unknown): Response {
  if (error instanceof Response) return error;
  if (error instanceof RequestBodyError) return error.toResponse();
  if (error instanceof ChatRequestError) return refusal(400, 'invalid-request', error.message);
  if (error instanceof ChatRefusedError) return refusal(error.status, error.code, error.message);
  if (error instanceof RunRefusedError) {
    const { status, code, message, retryAfter } = error;
    return refusal(status, code, message, retryAfter === undefined ? {} : { 'retry-after': String(retryAfter) });
  }
  if (error instanceof StoreError) return refusal(storeStatuses[error.code], error.code, error.message);
  throw error;
}
