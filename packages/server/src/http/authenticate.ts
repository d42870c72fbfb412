import { createHash, timingSafeEqual } from 'node:crypto';
import { localScope, toScope } from '@intertie/core';
import type { IntertieConfig, Principal } from '../config.ts';
import { IntertieError } from '../intertie-error.ts';

export const tokenCookie = 'intertie_token';

/** Who the request is from. Throws `unauthorized`. Without `auth` and token: whoever is on this machine. */
export async function authenticate(
  request: Request,
  { auth, token }: Pick<IntertieConfig, 'auth' | 'token'>,
): Promise<Principal> {
  if (token !== undefined && equal(tokenOf(request), token)) return { id: localScope };
  if (auth) {
    const principal = await auth(request);
    if (principal) return { ...principal, id: toScope(principal.id) };
  }
  if (!auth && token === undefined) return { id: localScope };
  throw new IntertieError('unauthorized', undefined, { headers: { 'www-authenticate': 'Bearer' } });
}

/** Whether a browser that has signed in sends this. */
export function hasSession(request: Request, token: string): boolean {
  return equal(cookieOf(request), token);
}

/** Compared by hash, so that neither length nor prefix can be told from the time it takes. */
export function equal(given: string | undefined, secret: string): boolean {
  if (given === undefined) return false;
  return timingSafeEqual(hash(given), hash(secret));
}

function hash(text: string): Uint8Array {
  return createHash('sha256').update(text).digest();
}

function tokenOf(request: Request): string | undefined {
  const header = /^bearer +(.+)$/i.exec(request.headers.get('authorization') ?? '')?.[1];
  return header === undefined ? cookieOf(request) : header.trim();
}

function cookieOf(request: Request): string | undefined {
  for (const pair of request.headers.get('cookie')?.split(';') ?? []) {
    const [name, value] = pair.trim().split('=', 2);
    if (name === tokenCookie && value !== undefined) return safeDecode(value);
  }
  return undefined;
}

function safeDecode(value: string): string {
  try {
    return decodeURIComponent(value);
  } catch {
    return value;
  }
}
