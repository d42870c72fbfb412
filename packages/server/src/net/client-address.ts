import { BlockList, isIPv4, isIPv6 } from 'node:net';

/**
 * Proxies whose forwarding headers are trusted: the number of proxies in front of the server, or their addresses and CIDR ranges.
 */
export type TrustProxy = number | readonly string[];

/** Client of a request, determined from the connection and the headers of trusted proxies. */
export type Client = {
  /** Canonical address; undefined if neither the connection nor a trusted proxy provides one. */
  address: string | undefined;
  /** Host name, with its port, that the client used. */
  host: string;
  /** Whether the client's own connection uses TLS. */
  isSecure: boolean;
};

export type ClientReader = (request: Request, peer: string | undefined) => Client;

/** One hop of a forwarding header. `address` is the value as it was sent. */
type Hop = { address: string | undefined; host?: string | undefined; proto?: string | undefined };

/**
 * Creates the function that finds a request's client. `peer` is the address of the connection. Without `trustProxy` no
 * forwarding header is read for address or host. Throws a `TypeError` for an entry that is neither an address nor a CIDR range.
 *
 * A header grows to the right, so it is read from the right, one hop for each trusted proxy: everything further left can be
 * written by the client. `Forwarded` is read only without `X-Forwarded-For`, since a proxy that writes the one often passes
 * the other through.
 */
export function createClientReader(trustProxy: TrustProxy | undefined): ClientReader {
  const isTrusted = createTrust(trustProxy ?? 0);
  return (request, peer) => {
    const { headers } = request;
    const url = new URL(request.url);
    let address = peer === undefined ? undefined : (parseAddress(peer) ?? peer);
    let host = headers.get('host') ?? url.host;
    // Read without trust: the header can only add `Secure` to the sender's own cookie.
    let proto = first(headers.get('x-forwarded-proto'));
    if (isTrusted(address, 0)) {
      const hops = readHops(headers);
      for (const [index, hop] of hops.toReversed().entries()) {
        const next = isTrusted(address, index) ? parseAddress(hop.address ?? '') : undefined;
        // An unreadable value (`unknown`, `_hidden`) leaves the address of the proxy that sent it.
        if (next === undefined) break;
        address = next;
      }
      const forwardedHost = last(headers.get('x-forwarded-host')) ?? hops.at(-1)?.host;
      if (forwardedHost !== undefined && /^[\w.:[\]-]+$/.test(forwardedHost)) host = forwardedHost;
      proto ??= hops[0]?.proto;
    }
    return { address, host, isSecure: url.protocol === 'https:' || proto?.toLowerCase() === 'https' };
  };
}

/** Whether the proxy at `address`, which is `hop` hops away from the server, is trusted. */
function createTrust(trustProxy: TrustProxy): (address: string | undefined, hop: number) => boolean {
  if (typeof trustProxy === 'number') return (_, hop) => hop < trustProxy;
  const trusted = new BlockList();
  for (const entry of trustProxy) addRange(trusted, entry);
  return (address, hop) => {
    if (address === undefined || hop >= maxHops) return false;
    return isIPv4(address) ? trusted.check(address, 'ipv4') : isIPv6(address) && trusted.check(address, 'ipv6');
  };
}

/** Maximum number of hops that are read, so that a very long header costs nothing. */
const maxHops = 32;

function addRange(trusted: BlockList, entry: string): void {
  const [base = '', length, ...rest] = entry.split('/');
  const family = isIPv4(base) ? 'ipv4' : isIPv6(base) ? 'ipv6' : undefined;
  const bits = family === 'ipv4' ? 32 : 128;
  const prefix = length === undefined ? bits : /^\d{1,3}$/.test(length) ? Number(length) : Infinity;
  if (family === undefined || rest.length > 0 || prefix > bits) {
    throw new TypeError(`"${entry}" is not an IP address or CIDR range, for example 10.0.0.0/8 or fd00::/8`);
  }
  trusted.addSubnet(base, prefix, family);
}

/** Hops from the one nearest the client to the one nearest the server. */
function readHops(headers: Headers): Hop[] {
  const addresses = headers.get('x-forwarded-for');
  if (addresses !== null) return addresses.split(',').map((address) => ({ address }));
  // A comma inside quotes splits too: no address or host has one, and an open quote must not swallow the proxies' entries.
  return (headers.get('forwarded') ?? '').split(',').map(readForwarded);
}

/** One element of `Forwarded` (RFC 7239): `for="[2001:db8::1]:4711";host=app.example;proto=https`. */
function readForwarded(element: string): Hop {
  const fields = new Map<string, string>();
  for (const pair of element.split(';')) {
    const at = pair.indexOf('=');
    if (at > 0) fields.set(pair.slice(0, at).trim().toLowerCase(), unquote(pair.slice(at + 1)));
  }
  return { address: fields.get('for'), host: fields.get('host'), proto: fields.get('proto') };
}

/**
 * The canonical form of an address: with or without brackets, port and zone, an IPv4-mapped one as IPv4. Undefined for
 * anything else.
 */
export function parseAddress(text: string): string | undefined {
  const value = unquote(text);
  const [, bare = value] = /^\[([^\]]*)\](?::\d{1,5})?$/.exec(value) ?? /^([\d.]+):\d{1,5}$/.exec(value) ?? [];
  if (isIPv4(bare)) return bare;
  const [address = ''] = bare.split('%');
  if (!isIPv6(address)) return undefined;
  // The URL parser writes each IPv6 address in one way.
  const canonical = new URL(`http://[${address}]`).hostname.slice(1, -1);
  const mapped = /^::ffff:([\da-f]{1,4}):([\da-f]{1,4})$/.exec(canonical);
  if (!mapped) return canonical;
  const [high, low] = [Number.parseInt(mapped[1]!, 16), Number.parseInt(mapped[2]!, 16)];
  return [high >> 8, high & 255, low >> 8, low & 255].join('.');
}

function unquote(text: string): string {
  return text.trim().replace(/^"(.*)"$/, '$1');
}

function first(list: string | null): string | undefined {
  return list?.split(',')[0]?.trim() || undefined;
}

function last(list: string | null): string | undefined {
  return list?.split(',').at(-1)?.trim() || undefined;
}
