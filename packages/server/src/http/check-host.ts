import { IntertieError } from '../intertie-error.ts';
import { hostName, isLoopbackHost } from './loopback.ts';

export type HostRules = {
  /** Names beside those of this machine. */
  hosts: readonly string[];
  /** Whether every request has to say who it is from. */
  isGuarded: boolean;
};

/**
 * Without a token, being on this machine is all that a caller has to show. So the name must be one of this machine's (a page
 * on the web that has its own name resolve to 127.0.0.1 sends that name), and the connection must not come through a proxy or
 * from elsewhere.
 */
export function checkHost(request: Request, rules: HostRules, address: string | undefined): void {
  const host = hostName(request.headers.get('host') ?? new URL(request.url).host);
  const isListed = rules.hosts.some((name) => name.toLowerCase() === host.toLowerCase());
  if (rules.isGuarded) {
    if (rules.hosts.length === 0 || isListed || isLoopbackHost(host)) return;
    throw new IntertieError('host-not-allowed', `The server does not answer to the name "${clean(host)}".`);
  }
  if (!isListed && !isLoopbackHost(host)) {
    throw new IntertieError('host-not-allowed', `The server does not answer to the name "${clean(host)}".`);
  }
  if (address !== undefined && !isLoopbackHost(address)) {
    throw new IntertieError('host-not-allowed', 'Without a token the server answers on this machine only.');
  }
  if (!isForwardedFromHere(request.headers)) {
    throw new IntertieError('host-not-allowed', 'The request came through a proxy, and the server has no token.');
  }
}

/** A proxy on this machine, such as that of a development server, says so for a browser on this machine too. */
function isForwardedFromHere(headers: Headers): boolean {
  if (headers.has('forwarded')) return false;
  const addresses = headers.get('x-forwarded-for')?.split(',') ?? [];
  return addresses.every((address) => isLoopbackHost(address.trim()));
}

function clean(host: string): string {
  return host.replace(/[^\w.:[\]-]/g, '?').slice(0, 100);
}
