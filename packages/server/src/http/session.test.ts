import { expect, test } from 'vitest';
import { Sessions } from './session.ts';

const token = 'a-token-that-nobody-guesses';
const day = 24 * 60 * 60 * 1000;

function asking(cookie?: string): Request {
  return new Request('http://localhost/', { headers: cookie === undefined ? {} : { cookie } });
}
const pairOf = (setCookie: string): string => setCookie.split(';')[0]!;

test('a session is known to every process with the same token, and to none with another', () => {
  const cookie = pairOf(new Sessions(token).setCookie(false));
  expect(new Sessions(token).has(asking(`theme=dark; ${cookie}; a=b`))).toBe(true);
  expect(new Sessions(`${token}!`).has(asking(cookie))).toBe(false);
});

test('no two are the same, and the token is in none', () => {
  const sessions = new Sessions(token);
  const cookies = Array.from({ length: 20 }, () => sessions.setCookie(true));
  expect(new Set(cookies).size).toBe(20);
  expect(cookies.join()).not.toContain(token);
  expect(cookies[0]).toMatch(/; Path=\/; Max-Age=604800; HttpOnly; SameSite=Strict; Secure$/);
});

test('it ends after a week', () => {
  let now = 1_800_000_000_000;
  const sessions = new Sessions(token, () => now);
  const cookie = pairOf(sessions.setCookie(false));
  now += 7 * day - 1;
  expect(sessions.has(asking(cookie))).toBe(true);
  now += 1;
  expect(sessions.has(asking(cookie))).toBe(false);
});

test('nothing of it can be changed', () => {
  const sessions = new Sessions(token);
  const [name, value] = pairOf(sessions.setCookie(false)).split('=') as [string, string];
  const [ends, own, signature] = value.split('.') as [string, string, string];
  const other = (text: string): string => (text.startsWith('A') ? 'B' : 'A') + text.slice(1);
  const forged = [
    `${Number(ends) + day}.${own}.${signature}`,
    `${ends}.${other(own)}.${signature}`,
    `${ends}.${own}.${other(signature)}`,
    `${ends}.${own}`,
    `${value}.${signature}`,
    `${value}x`,
    token,
    '',
    'x'.repeat(10_000),
  ];
  for (const one of forged) expect(sessions.has(asking(`${name}=${one}`))).toBe(false);
  expect(sessions.has(asking())).toBe(false);
  expect(sessions.has(asking(`${name}=${value}`))).toBe(true);
});
