import { capJson } from '../json/cap-json.ts';
import type { Fault } from './fault.ts';
import type { JsonObject } from '../json/json.ts';
import { toJson } from '../json/to-json.ts';

/** Limits chains of causes, which may be circular. */
const MAX_CAUSES = 8;
const MAX_DETAIL_BYTES = 4 * 1024;

/**
 * Error fields that are copied. An allowlist, because errors also carry requests, headers and keys (those of the AI SDK hold the
 * complete prompt), and a fault is sent to clients.
 */
const DETAILS = ['status', 'statusCode', 'type', 'param', 'reason', 'errno', 'syscall', 'data'];

const UNKNOWN = 'Unknown error without a message';

/**
 * Converts any thrown value to plain data. Never throws, and never includes a stack.
 * The error's own code wins, then that of its causes (`fetch failed` has its `ECONNREFUSED` there), then `code`.
 * `data` holds the error's name, the allowed fields, and the list of causes. A value that already is a fault stays unchanged.
 */
export function toFault(error: unknown, code?: string): Fault {
  try {
    if (typeof error === 'object' && error !== null) return convertError(error, code);
    return withCode({ message: toText(error) }, code);
  } catch {
    // For example a revoked proxy, which throws on any access.
    return withCode({ message: UNKNOWN }, code);
  }
}

function convertError(error: object, code: string | undefined): Fault {
  const chain = collectCauses(error);
  const fault: Fault = withCode({ message: getMessage(error) }, findFirst(chain, getCode) ?? code);
  const retryable = findFirst(chain, getRetryable);
  if (retryable !== undefined) fault.retryable = retryable;
  const data = isFault(error) ? error.data : describe(error, chain.slice(1));
  if (data !== undefined) fault.data = toJson(data);
  return fault;
}

function isFault(error: object): error is Fault {
  const fields = new Set(Object.keys(error));
  for (const key of ['code', 'retryable', 'data']) fields.delete(key);
  return !(error instanceof Error) && fields.size === 1 && fields.has('message');
}

function withCode(fault: Fault, code: string | undefined): Fault {
  return code === undefined ? fault : { ...fault, code };
}

/** Returns the error and its causes: `cause`, and `errors` of aggregated attempts. */
function collectCauses(error: object): object[] {
  const chain = [error];
  for (let index = 0; index < chain.length && chain.length < MAX_CAUSES; index += 1) {
    const current = chain[index] as object;
    const tried = read(current, 'errors');
    for (const cause of [read(current, 'cause'), ...(Array.isArray(tried) ? tried.slice(-MAX_CAUSES) : [])]) {
      if (typeof cause === 'object' && cause !== null && !chain.includes(cause)) chain.push(cause);
      else if (typeof cause === 'string') chain.push({ message: cause });
    }
  }
  return chain.slice(0, MAX_CAUSES);
}

function describe(error: object, causes: object[]): JsonObject | undefined {
  const data = pickDetails(error);
  if (causes.length > 0) {
    data.causes = causes.map((cause) => {
      const code = getCode(cause);
      return { ...pickDetails(cause), message: getMessage(cause), ...(code !== undefined && { code }) };
    });
  }
  return Object.keys(data).length > 0 ? data : undefined;
}

function pickDetails(error: object): JsonObject {
  const details: JsonObject = {};
  const name = read(error, 'name');
  if (typeof name === 'string' && name !== 'Error' && name !== '') details.name = name;
  for (const key of DETAILS) {
    const value = read(error, key);
    if (value !== undefined && typeof value !== 'function') details[key] = capJson(value, MAX_DETAIL_BYTES);
  }
  // The response text of the provider, unless it was parsed into `data`.
  const body = read(error, 'responseBody');
  if (typeof body === 'string' && details.data === undefined) details.responseBody = capJson(body, MAX_DETAIL_BYTES);
  return details;
}

function getMessage(error: object): string {
  const message = read(error, 'message');
  if (typeof message === 'string' && message !== '') return message;
  const name = read(error, 'name');
  if (typeof name === 'string' && name !== '') return name;
  return Object.keys(error).length === 0 ? UNKNOWN : toText(error);
}

function toText(value: unknown): string {
  if (value === undefined || value === null || value === '') return UNKNOWN;
  return typeof value === 'string' ? value : JSON.stringify(capJson(value, MAX_DETAIL_BYTES));
}

function getCode(error: object): string | undefined {
  const code = read(error, 'code');
  if (typeof code === 'string' && code !== '') return code;
  // The numeric code of a DOMException is deprecated; its name (`AbortError`, `TimeoutError`) is its code.
  const name = read(error, 'name');
  if (typeof name === 'string' && Object.prototype.toString.call(error) === '[object DOMException]') return name;
  return typeof code === 'number' ? String(code) : undefined;
}

function getRetryable(error: object): boolean | undefined {
  for (const key of ['retryable', 'isRetryable']) {
    const known = read(error, key);
    if (typeof known === 'boolean') return known;
  }
  return undefined;
}

function findFirst<Known>(chain: object[], known: (error: object) => Known | undefined): Known | undefined {
  for (const error of chain) {
    const found = known(error);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Reads a field. Getters and proxies may throw. */
function read(error: object, key: string): unknown {
  try {
    return (error as { [key: string]: unknown })[key];
  } catch {
    return undefined;
  }
}
