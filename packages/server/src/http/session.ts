import { createHmac, randomBytes, scryptSync, timingSafeEqual } from 'node:crypto';

const cookieName = 'intertie_session';
/** How long a browser stays signed in. */
const lifetimeMs = 7 * 24 * 60 * 60 * 1000;
/** When it ends, what makes it one of a kind, and who says so. Nothing longer is looked at. */
const shape = /^(\d{13})\.([\w-]{22})\.([\w-]{43})$/;

/**
 * What a browser holds after it has signed in: not the token, but a value that only whoever has the token can make, and that
 * says itself when it ends. Nothing is kept here, so every process with the same token takes it, and none does after the token
 * was changed.
 */
export class Sessions {
  #key: Uint8Array;
  #now: () => number;

  constructor(token: string, now: () => number = Date.now) {
    // Slow on purpose: from a cookie that was stolen nobody finds the token by trying.
    this.#key = scryptSync(token, 'intertie session 1', 32);
    this.#now = now;
  }

  #create(): string {
    const session = `${this.#now() + lifetimeMs}.${randomBytes(16).toString('base64url')}`;
    return `${session}.${this.#sign(session).toString('base64url')}`;
  }

  /** Whether the request comes from a browser that has signed in, and not too long ago. */
  has(request: Request): boolean {
    const [, ends, name, signature] = shape.exec(cookieOf(request) ?? '') ?? [];
    if (ends === undefined || signature === undefined) return false;
    const isOurs = timingSafeEqual(this.#sign(`${ends}.${name}`), Buffer.from(signature, 'base64url'));
    const left = Number(ends) - this.#now();
    return isOurs && left > 0 && left <= lifetimeMs;
  }

  /** The header that gives a browser a session. */
  setCookie(isSecure: boolean): string {
    const attributes = `Path=/; Max-Age=${lifetimeMs / 1000}; HttpOnly; SameSite=Strict${isSecure ? '; Secure' : ''}`;
    return `${cookieName}=${this.#create()}; ${attributes}`;
  }

  #sign(session: string): Buffer {
    return createHmac('sha256', this.#key).update(session).digest();
  }
}

function cookieOf(request: Request): string | undefined {
  for (const pair of request.headers.get('cookie')?.split(';') ?? []) {
    const [name, value] = pair.trim().split('=', 2);
    if (name === cookieName) return value;
  }
  return undefined;
}
