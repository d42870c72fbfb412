import { RunRefusedError, StoreError } from '@intertie/core';
import type { StoreErrorCode } from '@intertie/core/store';
import { RequestBodyError } from '@intertie/core/http';
import { ChatRequestError } from './chat-request.ts';

const storeStatuses: Record<StoreErrorCode, number> = {
  'not-found': 404,
  invalid: 400,
  'version-conflict': 409,
  'content-conflict': 409,
  'key-reused': 422,
  busy: 409,
};

/** JSON error response in place of a stream. */
export function errorResponse(
  status: number,
  code: string,
  message: string,
  headers: Record<string, string> = {},
): Response {
  return Response.json({ error: { code, message } }, { status, headers });
}

/** Maps an error to a response, and rethrows errors that the client did not cause. Hooks may throw a `Response`. */
export function toErrorResponse(error: unknown): Response {
  if (error instanceof Response) return error;
  if (error instanceof RequestBodyError) return error.toResponse();
  if (error instanceof ChatRequestError) return errorResponse(400, 'invalid-request', error.message);
  if (error instanceof RunRefusedError) {
    const { status, code, message, retryAfter } = error;
    return errorResponse(status, code, message, retryAfter === undefined ? {} : { 'retry-after': String(retryAfter) });
  }
  if (error instanceof StoreError) return errorResponse(storeStatuses[error.code], error.code, error.message);
  throw error;
}
