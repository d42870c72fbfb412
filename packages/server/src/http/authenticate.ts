import { createHash, timingSafeEqual } from 'node:crypto';
import { localScope, toScope } from '@intertie/core/store';
import type { IntertieConfig, Principal } from '../config/config.ts';
import { IntertieError } from '../errors/intertie-error.ts';
import type { Sessions } from './session.ts';

export type Credentials = Pick<IntertieConfig, 'auth' | 'token'> & { sessions: Sessions | undefined };

/** Who the request is from. Throws `unauthorized`. Without `auth` and token: whoever is on this machine. */
export async function authenticate(request: Request, { auth, token, sessions }: Credentials): Promise<Principal> {
  // Holders of the server's token are operators.
  if (token !== undefined && equal(bearerOf(request), token)) return { id: localScope, operator: true };
  if (sessions?.has(request)) return { id: localScope, operator: true };
  if (auth) {
    const principal = await auth(request);
    if (principal) return { ...principal, id: toScope(principal.id) };
  }
  if (!auth && token === undefined) return { id: localScope, operator: true };
  throw new IntertieError('unauthorized', undefined, { headers: { 'www-authenticate': 'Bearer' } });
}

/** Compared by hash, so that neither length nor prefix can be told from the time it takes. */
export function equal(given: string | undefined, secret: string): boolean {
  if (given === undefined) return false;
  return timingSafeEqual(hash(given), hash(secret));
}

function hash(text: string): Uint8Array {
  return createHash('sha256').update(text).digest();
}

function bearerOf(request: Request): string | undefined {
  return /^bearer +(.+)$/i.exec(request.headers.get('authorization') ?? '')?.[1]?.trim();
}
