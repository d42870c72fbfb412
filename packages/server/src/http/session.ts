import { createHmac, randomBytes, scryptSync, timingSafeEqual } from 'node:crypto';

const cookieName = 'intertie_session';
/** Lifetime of a session. */
const lifetimeMs = 7 * 24 * 60 * 60 * 1000;
/** Expiry, random id and signature. The fixed lengths bound the work for a forged cookie. */
const shape = /^(\d{13})\.([\w-]{22})\.([\w-]{43})$/;

/**
 * Creates and verifies session cookies. A cookie does not contain the token, but an expiry signed with a key derived from it.
 * Sessions are stateless: every process with the same token accepts them, and a new token invalidates them.
 */
export class Sessions {
  #key: Uint8Array;
  #now: () => number;

  constructor(token: string, now: () => number = Date.now) {
    // A slow key derivation, so that a stolen cookie cannot be used to guess the token.
    this.#key = scryptSync(token, 'intertie session 1', 32);
    this.#now = now;
  }

  #create(): string {
    const session = `${this.#now() + lifetimeMs}.${randomBytes(16).toString('base64url')}`;
    return `${session}.${this.#sign(session).toString('base64url')}`;
  }

  /** Whether the request has a valid session cookie that has not expired. */
  has(request: Request): boolean {
    const [, expiry, id, signature] = shape.exec(readCookie(request) ?? '') ?? [];
    if (expiry === undefined || signature === undefined) return false;
    const isValid = timingSafeEqual(this.#sign(`${expiry}.${id}`), Buffer.from(signature, 'base64url'));
    const remainingMs = Number(expiry) - this.#now();
    return isValid && remainingMs > 0 && remainingMs <= lifetimeMs;
  }

  /** Returns the `Set-Cookie` header of a new session. */
  setCookie(isSecure: boolean): string {
    const attributes = `Path=/; Max-Age=${lifetimeMs / 1000}; HttpOnly; SameSite=Strict${isSecure ? '; Secure' : ''}`;
    return `${cookieName}=${this.#create()}; ${attributes}`;
  }

  #sign(session: string): Buffer {
    return createHmac('sha256', this.#key).update(session).digest();
  }
}

function readCookie(request: Request): string | undefined {
  for (const pair of request.headers.get('cookie')?.split(';') ?? []) {
    const [name, value] = pair.trim().split('=', 2);
    if (name === cookieName) return value;
  }
  return undefined;
}
