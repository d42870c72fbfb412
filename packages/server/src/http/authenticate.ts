import { createHash, timingSafeEqual } from 'node:crypto';
import { localScope, toScope } from '@intertie/core/store';
import type { IntertieConfig, Principal } from '../config/config.ts';
import { IntertieError } from '../errors/intertie-error.ts';
import type { Sessions } from './session.ts';

export type Credentials = Pick<IntertieConfig, 'auth' | 'token'> & { sessions: Sessions | undefined };

/** Identifies the sender of a request, or throws `unauthorized`. Without `auth` and token, every local user is an operator. */
export async function authenticate(request: Request, { auth, token, sessions }: Credentials): Promise<Principal> {
  // Holders of the server's token are operators.
  if (token !== undefined && equalsSecret(readBearerToken(request), token)) return { id: localScope, operator: true };
  if (sessions?.has(request)) return { id: localScope, operator: true };
  if (auth) {
    const principal = await auth(request);
    if (principal) return { ...principal, id: toScope(principal.id) };
  }
  if (!auth && token === undefined) return { id: localScope, operator: true };
  throw new IntertieError('unauthorized', undefined, { headers: { 'www-authenticate': 'Bearer' } });
}

/** Compares hashes in constant time, so that timing reveals neither the length nor a prefix of the secret. */
export function equalsSecret(given: string | undefined, secret: string): boolean {
  if (given === undefined) return false;
  return timingSafeEqual(hash(given), hash(secret));
}

function hash(text: string): Uint8Array {
  return createHash('sha256').update(text).digest();
}

function readBearerToken(request: Request): string | undefined {
  return /^bearer +(.+)$/i.exec(request.headers.get('authorization') ?? '')?.[1]?.trim();
}
