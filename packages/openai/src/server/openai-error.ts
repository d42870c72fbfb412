import { RunRefusedError, StoreError, type Fault, type JsonObject } from '@intertie/core';
import { RequestBodyError } from '@intertie/core/http';

/** Error of a request, in the format of OpenAI: clients choose the class of the exception by its status. */
export class OpenAIRequestError extends Error {
  override readonly name = 'OpenAIRequestError';
  readonly status: number;
  readonly code: string | null;
  readonly param: string | null;
  readonly retryAfter: number | undefined;
  /** Whether clients of OpenAI repeat the request. Default: by its status. */
  readonly shouldRetry: boolean | undefined;

  constructor(
    message: string,
    {
      status = 400,
      code = null,
      param = null,
      retryAfter,
      shouldRetry,
    }: Partial<Omit<OpenAIRequestError, keyof Error>> = {},
  ) {
    super(message);
    this.status = status;
    this.code = code;
    this.param = param;
    this.retryAfter = retryAfter;
    this.shouldRetry = shouldRetry;
  }

  toResponse(): Response {
    const { message, status, code, param, retryAfter, shouldRetry } = this;
    const headers: HeadersInit = {
      ...(retryAfter !== undefined && { 'retry-after': String(retryAfter) }),
      ...(shouldRetry !== undefined && { 'x-should-retry': String(shouldRetry) }),
    };
    return Response.json(createErrorBody({ status, message, code, param }), { status, headers });
  }
}

/** Creates the body of an error response. */
export function createErrorBody({
  status,
  message,
  code,
  param = null,
}: {
  status: number;
  message: string;
  code: string | null;
  param?: string | null;
}): JsonObject {
  return { error: { message, type: getErrorType(status), param, code } };
}

function getErrorType(status: number): string {
  if (status === 401) return 'authentication_error';
  if (status === 403) return 'permission_error';
  if (status === 429) return 'rate_limit_error';
  return status >= 500 ? 'server_error' : 'invalid_request_error';
}

/** Converts an error that the request caused. Returns undefined for others. */
export function toRequestError(error: unknown): OpenAIRequestError | undefined {
  if (error instanceof OpenAIRequestError) return error;
  if (error instanceof RequestBodyError) {
    const { message, fix, status, code } = error;
    return new OpenAIRequestError(`${message} ${fix}`, { status, code });
  }
  if (error instanceof RunRefusedError) {
    const { message, status, code, retryAfter } = error;
    return new OpenAIRequestError(message, { status, code, retryAfter });
  }
  if (!(error instanceof StoreError)) return undefined;
  const { message, code } = error;
  return new OpenAIRequestError(message, { status: code === 'not-found' ? 404 : code === 'invalid' ? 400 : 409, code });
}

/**
 * Converts an error of a request that waits for the run that it has started. The run may continue, and a repeated request that the
 * server does not recognize starts another one.
 */
export function toWaitError(error: unknown): unknown {
  const known = toRequestError(error);
  if (known === undefined) return error;
  const { message, status, code, param } = known;
  return new OpenAIRequestError(message, { status, code, param, shouldRetry: false });
}

/** Error of a run that failed. Clients send no idempotency key by default, so each retry would start another run. */
export function toRunError({ message, code = 'run-failed' }: Fault): OpenAIRequestError {
  return new OpenAIRequestError(message, { status: 502, code, shouldRetry: false });
}

export function responseNotFound(id: string): OpenAIRequestError {
  return new OpenAIRequestError(`Response with id '${id}' not found.`, { status: 404, param: 'id' });
}

/** Error of a response whose log was dropped after its retention time. */
export function expired(): OpenAIRequestError {
  const message = 'The events of the response are no longer stored.';
  return new OpenAIRequestError(message, { status: 410, code: 'expired' });
}
