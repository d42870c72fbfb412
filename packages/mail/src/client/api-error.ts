import { APICallError } from '@ai-sdk/provider';
import { asFields, asNonEmptyText, parseJson } from '../shared/fields.ts';

export type FailedCall = { url: string; body: unknown; path: string; hasToken: boolean };

/** Converts an HTTP error of the server to an `APICallError` that explains how to fix it. */
export async function toAPICallError(response: Response, call: FailedCall, version?: string): Promise<APICallError> {
  const text = await response.text().catch(() => '');
  const detail = asNonEmptyText(asFields(parseJson(text)).detail) ?? text.slice(0, 200);
  const { status } = response;
  return new APICallError({
    message: `${explainVersion(version) ?? explainStatus(status, detail, call)} (HTTP ${status}${detail && `: ${detail}`})`,
    url: call.url,
    requestBodyValues: call.body,
    statusCode: status,
    responseHeaders: Object.fromEntries(response.headers),
    responseBody: text,
    isRetryable: version === undefined && isRetryable(status, detail),
  });
}

/** Explains an unsupported MAIL version and how to fix it. Returns undefined for a supported or unknown version. */
export function explainVersion(version: string | undefined): string | undefined {
  if (version === undefined || /^1\.(?:[3-9]|\d\d)/.test(version)) return undefined;
  if (version.startsWith('2')) {
    return (
      'The server runs MAIL 2, which delivers mail but runs no swarms. Set baseUrl to a MAIL 1.3 server ' +
      '(pip install "mail-swarms<2").'
    );
  }
  return `The server runs MAIL ${version}, whose events are not JSON. Update it: pip install "mail-swarms>=1.3,<2".`;
}

/** Converts a failed `fetch` to an `APICallError`. */
export function toConnectionError(error: unknown, { url, body }: FailedCall): APICallError {
  return new APICallError({
    message: `Cannot connect to a MAIL server at ${url}. Start the server, or set baseUrl (or MAIL_BASE_URL).`,
    url,
    requestBodyValues: body,
    cause: error,
    isRetryable: true,
  });
}

function explainStatus(status: number, detail: string, { path, hasToken }: FailedCall): string {
  if (status === 401) {
    return hasToken
      ? 'The MAIL server rejected the key. Check authToken (or MAIL_API_KEY).'
      : 'The MAIL server requires a key. Set authToken (or MAIL_API_KEY).';
  }
  if (status === 404 && path === '/ui/message') {
    return (
      'The MAIL server has no /ui/message, the endpoint without a key, which exists in debug mode only. ' +
      'Set authToken (or MAIL_API_KEY), or start the server with debug = true.'
    );
  }
  if (status === 404) return `The server has no ${path}, so it may not be a MAIL 1.3 server. Check baseUrl.`;
  if (status === 500 && !detail.startsWith('error processing')) {
    return 'The MAIL server failed before the task started. Its auth service may be unreachable. Check the server log.';
  }
  return 'The MAIL server rejected the message.';
}

/** Excludes messages that the server could not process: a retry would fail again. */
function isRetryable(status: number, detail: string): boolean {
  if (status === 408 || status === 429) return true;
  return status >= 500 && !detail.startsWith('error processing message');
}
