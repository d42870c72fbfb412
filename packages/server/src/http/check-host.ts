import { IntertieError } from '../errors/intertie-error.ts';
import { hostName, isLoopbackHost } from '../net/loopback.ts';

export type HostRules = {
  /** Names beside those of this machine. */
  hosts: readonly string[];
  /** Whether every request needs credentials. */
  isGuarded: boolean;
  /** Host that the client used, as a trusted proxy forwarded it; else the one of the request. */
  forwardedHost?: string;
};

/**
 * Without a token, being on this machine is all that a caller has to show. So the name must be one of this machine's (a page
 * on the web that has its own name resolve to 127.0.0.1 sends that name), and the connection must not come through a proxy or
 * from elsewhere. Where the connection is not known (`fetch` outside Node's server), the name in the URL is judged beside that
 * in the header, which a caller chooses; and as that may be the caller's word too, production asks for a token or `auth`.
 */
export function checkHost(request: Request, rules: HostRules, address: string | undefined): void {
  const own = request.headers.get('host') ?? new URL(request.url).host;
  const host = hostName(rules.forwardedHost ?? own);
  const isListed = isAmong(rules.hosts, host);
  if (rules.isGuarded) {
    if (rules.hosts.length === 0 || isListed || isLoopbackHost(host)) return;
    throw new IntertieError('host-not-allowed', `The server does not answer to the name "${clean(host)}".`);
  }
  for (const name of [host, hostName(own), new URL(request.url).hostname]) {
    if (isLoopbackHost(name) || isAmong(rules.hosts, name)) continue;
    throw new IntertieError('host-not-allowed', `The server does not answer to the name "${clean(name)}".`);
  }
  if (address === undefined && process.env['NODE_ENV'] === 'production') {
    throw new IntertieError(
      'token-required',
      'Where requests come from is not known here, so in production the server needs to know who asks: set INTERTIE_TOKEN, or token or auth in the configuration.',
    );
  }
  if (address !== undefined && !isLoopbackHost(address)) {
    throw new IntertieError('host-not-allowed', 'Without a token the server answers on this machine only.');
  }
  if (!isForwardedFromHere(request.headers)) {
    throw new IntertieError('host-not-allowed', 'The request came through a proxy, and the server has no token.');
  }
}

function isAmong(hosts: readonly string[], host: string): boolean {
  return hosts.some((name) => name.toLowerCase() === host.toLowerCase());
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
