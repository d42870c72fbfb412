import { describe, expect, it } from 'vitest';
import { createClientReader, parseAddress, type Client, type TrustProxy } from './client-address.ts';

function read(trustProxy: TrustProxy | undefined, peer: string | undefined, headers: HeadersInit): Client {
  return createClientReader(trustProxy)(new Request('http://127.0.0.1:4111/', { headers }), peer);
}

function readAddress(trustProxy: TrustProxy | undefined, peer: string | undefined, forwardedFor: string): unknown {
  return read(trustProxy, peer, { 'x-forwarded-for': forwardedFor }).address;
}

describe('the address of a client', () => {
  it('uses the address of the connection when no proxy is trusted', () => {
    for (const trust of [undefined, 0, []] as const) {
      expect(readAddress(trust, '192.0.2.1', '198.51.100.7')).toBe('192.0.2.1');
      expect(read(trust, '192.0.2.1', { forwarded: 'for=198.51.100.7' }).address).toBe('192.0.2.1');
      expect(readAddress(trust, undefined, '198.51.100.7')).toBeUndefined();
    }
  });

  it('reads the header from the right, one entry for each trusted hop', () => {
    const header = '203.0.113.66, 198.51.100.7, 10.0.0.2';
    expect(readAddress(1, '10.0.0.1', header)).toBe('10.0.0.2');
    expect(readAddress(2, '10.0.0.1', header)).toBe('198.51.100.7');
    expect(readAddress(9, '10.0.0.1', '198.51.100.7')).toBe('198.51.100.7');
    // Inside another server the connection is unknown, and counts as the first hop all the same.
    expect(readAddress(1, undefined, header)).toBe('10.0.0.2');
  });

  it('finds the first address from the right that is not a listed proxy', () => {
    const trust = ['10.0.0.0/8', '::1', 'fd00::/8'];
    expect(readAddress(trust, '10.0.0.1', '203.0.113.66, 198.51.100.7, fd00::9')).toBe('198.51.100.7');
    expect(readAddress(trust, '::ffff:10.0.0.1', '198.51.100.7')).toBe('198.51.100.7');
    expect(readAddress(trust, '::1', '198.51.100.7')).toBe('198.51.100.7');
    expect(readAddress(trust, '10.0.0.1', '10.0.0.3, 10.0.0.2')).toBe('10.0.0.3');
  });

  it('uses the address of the connection when that is not a listed proxy', () => {
    expect(readAddress(['10.0.0.0/8'], '192.0.2.1', '198.51.100.7')).toBe('192.0.2.1');
    expect(readAddress(['10.0.0.0/8'], undefined, '198.51.100.7')).toBeUndefined();
  });

  it.each(['unknown', '_hidden', '', '1.2.3', '999.1.1.1', '[::1', 'a\u00e9', '1.2.3.4.5:80', 'unix:'])(
    'uses the address of the proxy that sent the unreadable value "%s"',
    (junk) => {
      expect(readAddress(1, '10.0.0.1', `203.0.113.66, ${junk}`)).toBe('10.0.0.1');
      expect(readAddress(2, '10.0.0.1', `${junk}, 10.0.0.2`)).toBe('10.0.0.2');
    },
  );

  it('reads Forwarded without X-Forwarded-For', () => {
    const forwarded =
      'for="_x, for=203.0.113.66, For="[2001:DB8::17]:4711";proto=https;host="app.example", for=10.0.0.2';
    expect(read(2, '10.0.0.1', { forwarded }).address).toBe('2001:db8::17');
    expect(read(1, '10.0.0.1', { forwarded, 'x-forwarded-for': '198.51.100.7' }).address).toBe('198.51.100.7');
  });
});

it.each([
  ['192.0.2.1', '192.0.2.1'],
  ['192.0.2.1:4711', '192.0.2.1'],
  ['"192.0.2.1:4711"', '192.0.2.1'],
  ['::FFFF:192.0.2.1', '192.0.2.1'],
  ['[::ffff:c000:201]:80', '192.0.2.1'],
  ['2001:DB8:0:0::1', '2001:db8::1'],
  ['[2001:db8::1]', '2001:db8::1'],
  ['fe80::1%eth0', 'fe80::1'],
  ['example.com', undefined],
  ['2001:db8::1]:80', undefined],
])('parses the address %s', (text, address) => {
  expect(parseAddress(text)).toBe(address);
});

describe('the host and the scheme', () => {
  const headers = { host: '127.0.0.1:4111', 'x-forwarded-host': 'evil.example, app.example', 'x-forwarded-for': '::1' };

  it('uses the forwarded host of a trusted proxy only', () => {
    expect(read(undefined, '10.0.0.1', headers).host).toBe('127.0.0.1:4111');
    expect(read(['10.0.0.1'], '10.0.0.2', headers).host).toBe('127.0.0.1:4111');
    expect(read(['10.0.0.1'], '10.0.0.1', headers).host).toBe('app.example');
    expect(read(1, '10.0.0.1', { forwarded: 'for=::1;host=app.example:8443' }).host).toBe('app.example:8443');
    expect(read(1, '10.0.0.1', { host: 'a.example', 'x-forwarded-host': 'b c"' }).host).toBe('a.example');
  });

  it('detects a client that uses TLS', () => {
    expect(read(1, '10.0.0.1', { 'x-forwarded-proto': 'https, http' }).isSecure).toBe(true);
    expect(read(1, '10.0.0.1', { forwarded: 'for=::1;proto=https' }).isSecure).toBe(true);
    expect(read(1, '10.0.0.1', {}).isSecure).toBe(false);
  });
});

it.each(['10.0.0.0/33', 'fd00::/129', '10.0.0.0/8/8', '10.0.0.0/x', 'proxy.example', '', '10.0.0.0/'])(
  'refuses "%s" as a trusted range',
  (entry) => {
    expect(() => createClientReader([entry])).toThrow(`"${entry}" is not an IP address or CIDR range`);
  },
);
