import { IntertieError } from '../errors/intertie-error.ts';
import { hostName, isLoopbackHost } from '../net/loopback.ts';

export type HostRules = {
  /** Accepted host names, in addition to those of this machine. */
  hosts: readonly string[];
  /** Whether every request needs credentials. */
  isGuarded: boolean;
  /** Host that the client used, if a trusted proxy forwarded it. Default: the host of the request. */
  forwardedHost?: string;
};

/**
 * Protects a server without a token, which trusts every caller on this machine. The host name must be local, because a web
 * page can let its own name resolve to 127.0.0.1 (DNS rebinding), and the connection must be local and not proxied. If the
 * connection is unknown (`fetch` outside Node's server), the host of the URL is checked too. The caller could have chosen
 * both, so production then requires a token or `auth`.
 */
export function checkHost(request: Request, rules: HostRules, address: string | undefined): void {
  const own = request.headers.get('host') ?? new URL(request.url).host;
  const host = hostName(rules.forwardedHost ?? own);
  const isListed = isAmong(rules.hosts, host);
  if (rules.isGuarded) {
    if (rules.hosts.length === 0 || isListed || isLoopbackHost(host)) return;
    throw new IntertieError('host-not-allowed', `The server does not accept the host name "${clean(host)}".`);
  }
  for (const name of [host, hostName(own), new URL(request.url).hostname]) {
    if (isLoopbackHost(name) || isAmong(rules.hosts, name)) continue;
    throw new IntertieError('host-not-allowed', `The server does not accept the host name "${clean(name)}".`);
  }
  if (address === undefined && process.env['NODE_ENV'] === 'production') {
    throw new IntertieError(
      'token-required',
      'The sender of a request is unknown here, so production needs authentication: set INTERTIE_TOKEN, or token or auth in the configuration.',
    );
  }
  if (address !== undefined && !isLoopbackHost(address)) {
    throw new IntertieError('host-not-allowed', 'Without a token the server accepts requests from this machine only.');
  }
  if (!isForwardedFromHere(request.headers)) {
    throw new IntertieError('host-not-allowed', 'The request came through a proxy, and the server has no token.');
  }
}

function isAmong(hosts: readonly string[], host: string): boolean {
  return hosts.some((name) => name.toLowerCase() === host.toLowerCase());
}

/** Accepts proxies on this machine that forward for a local browser, such as a development server. */
function isForwardedFromHere(headers: Headers): boolean {
  if (headers.has('forwarded')) return false;
  const addresses = headers.get('x-forwarded-for')?.split(',') ?? [];
  return addresses.every((address) => isLoopbackHost(address.trim()));
}

function clean(host: string): string {
  return host.replace(/[^\w.:[\]-]/g, '?').slice(0, 100);
}
