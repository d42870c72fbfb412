import { errors, isErrorCode, type ErrorCode } from '../errors/errors.ts';
import { IntertieError } from '../errors/intertie-error.ts';

const byStatus: { readonly [status: number]: ErrorCode } = {
  404: 'not-found',
  405: 'method-not-allowed',
  413: 'too-large',
  500: 'internal',
  503: 'closing',
};

/** Adds the code, the fix and the documentation link of the catalogue to an error response of a protocol handler. */
export async function withErrorBody(response: Response): Promise<Response> {
  if (response.status < 400 || !response.headers.get('content-type')?.includes('json')) return response;
  const body = (await response.json().catch(() => undefined)) as
    | { error?: { code?: unknown; message?: unknown } }
    | undefined;
  const { code: given, message, ...data } = body?.error ?? {};
  const code = isErrorCode(given) ? given : (byStatus[response.status] ?? 'bad-request');
  const error = new IntertieError(code, typeof message === 'string' ? message : errors[code].title, { data });
  const headers = new Headers(response.headers);
  headers.delete('content-length');
  return Response.json(error.toBody(), { status: response.status, headers });
}
