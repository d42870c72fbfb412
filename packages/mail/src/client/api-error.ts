import { APICallError } from '@ai-sdk/provider';
import { fieldsOf, nameOf, parseJson } from '../shared/fields.ts';

export type FailedCall = { url: string; body: unknown; path: string; hasToken: boolean };

/** The server answered, and not with what was asked for. */
export async function toAPICallError(response: Response, call: FailedCall, version?: string): Promise<APICallError> {
  const text = await response.text().catch(() => '');
  const detail = nameOf(fieldsOf(parseJson(text)).detail) ?? text.slice(0, 200);
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

/** A version of MAIL that this package does not speak, and what to do. */
export function explainVersion(version: string | undefined): string | undefined {
  if (version === undefined || /^1\.(?:[3-9]|\d\d)/.test(version)) return undefined;
  if (version.startsWith('2')) {
    return (
      'The server speaks MAIL 2, which delivers mail and runs no swarm. Point baseUrl at a MAIL 1.3 server ' +
      '(pip install "mail-swarms<2").'
    );
  }
  return `The server runs MAIL ${version}, whose events are not JSON. Update it: pip install "mail-swarms>=1.3,<2".`;
}

/** Nobody answered. */
export function toConnectionError(error: unknown, { url, body }: FailedCall): APICallError {
  return new APICallError({
    message: `No MAIL server answers at ${url}. Start it, or set baseUrl (or MAIL_BASE_URL) to where it is.`,
    url,
    requestBodyValues: body,
    cause: error,
    isRetryable: true,
  });
}

function explainStatus(status: number, detail: string, { path, hasToken }: FailedCall): string {
  if (status === 401) {
    return hasToken
      ? 'The MAIL server refused the key. Check authToken (or MAIL_API_KEY).'
      : 'The MAIL server wants a key. Set authToken (or MAIL_API_KEY).';
  }
  if (status === 404 && path === '/ui/message') {
    return (
      'The MAIL server has no /ui/message, which needs no key and is there in debug mode only. ' +
      'Set authToken (or MAIL_API_KEY), or start the server with debug = true.'
    );
  }
  if (status === 404) return `The server has no ${path}: it may be no MAIL 1.3 server. Check baseUrl.`;
  if (status === 500 && !detail.startsWith('error processing')) {
    return 'The MAIL server failed before the task began: its auth service may be unreachable. Look at its log.';
  }
  return 'The MAIL server did not take the message.';
}

/** What the server could not process, it will not process the next time either. */
function isRetryable(status: number, detail: string): boolean {
  if (status === 408 || status === 429) return true;
  return status >= 500 && !detail.startsWith('error processing message');
}
