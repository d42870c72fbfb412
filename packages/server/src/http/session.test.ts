import { expect, test } from 'vitest';
import { Sessions } from './session.ts';

const token = 'a-token-that-nobody-guesses';
const day = 24 * 60 * 60 * 1000;

function createRequest(cookie?: string): Request {
  return new Request('http://localhost/', { headers: cookie === undefined ? {} : { cookie } });
}
const getCookie = (setCookie: string): string => setCookie.split(';')[0]!;

test('accepts a session in every process with the same token, and in no other', () => {
  const cookie = getCookie(new Sessions(token).setCookie(false));
  expect(new Sessions(token).has(createRequest(`theme=dark; ${cookie}; a=b`))).toBe(true);
  expect(new Sessions(`${token}!`).has(createRequest(cookie))).toBe(false);
});

test('creates unique cookies that do not contain the token', () => {
  const sessions = new Sessions(token);
  const cookies = Array.from({ length: 20 }, () => sessions.setCookie(true));
  expect(new Set(cookies).size).toBe(20);
  expect(cookies.join()).not.toContain(token);
  expect(cookies[0]).toMatch(/; Path=\/; Max-Age=604800; HttpOnly; SameSite=Strict; Secure$/);
});

test('expires sessions after a week', () => {
  let now = 1_800_000_000_000;
  const sessions = new Sessions(token, () => now);
  const cookie = getCookie(sessions.setCookie(false));
  now += 7 * day - 1;
  expect(sessions.has(createRequest(cookie))).toBe(true);
  now += 1;
  expect(sessions.has(createRequest(cookie))).toBe(false);
});

test('rejects cookies that were modified', () => {
  const sessions = new Sessions(token);
  const [name, value] = getCookie(sessions.setCookie(false)).split('=') as [string, string];
  const [expiry, id, signature] = value.split('.') as [string, string, string];
  const other = (text: string): string => (text.startsWith('A') ? 'B' : 'A') + text.slice(1);
  const forged = [
    `${Number(expiry) + day}.${id}.${signature}`,
    `${expiry}.${other(id)}.${signature}`,
    `${expiry}.${id}.${other(signature)}`,
    `${expiry}.${id}`,
    `${value}.${signature}`,
    `${value}x`,
    token,
    '',
    'x'.repeat(10_000),
  ];
  for (const cookie of forged) expect(sessions.has(createRequest(`${name}=${cookie}`))).toBe(false);
  expect(sessions.has(createRequest())).toBe(false);
  expect(sessions.has(createRequest(`${name}=${value}`))).toBe(true);
});
