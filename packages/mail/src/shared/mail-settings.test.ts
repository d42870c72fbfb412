import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { readSettings } from './mail-settings.ts';
import { toResumeToken } from './resume-token.ts';

it('has a README that lists every setting', () => {
  const read = (path: string): string => readFileSync(new URL(path, import.meta.url), 'utf8');
  const settings = [...read('./mail-settings.ts').matchAll(/^  (\w+)\?:/gm)].map(([, name]) => name!);
  const rows = read('../../README.md').matchAll(/^\| (`.*?) *\|/gm);
  const listed = new Set([...rows].flatMap(([, cell]) => [...cell!.matchAll(/`(\w+)`/g)].map(([, name]) => name)));
  expect(settings.length).toBeGreaterThan(20);
  expect(settings.filter((name) => !listed.has(name))).toEqual([]);
});

describe('readSettings', () => {
  it('keeps valid settings and ignores unset and unknown ones', () => {
    const settings = { entrypoint: 'math', maxSteps: 3, toolCalls: 'all', taskId: null, subject: undefined, other: 1 };
    expect(readSettings(settings)).toEqual({ entrypoint: 'math', maxSteps: 3, toolCalls: 'all' });
    expect(readSettings(undefined)).toEqual({});
  });

  it('treats an empty taskId as unset', () => {
    expect(readSettings({ taskId: '' })).toEqual({});
  });

  it('accepts a resume token as taskId and as resumeFrom', () => {
    const token = toResumeToken({ taskId: 'T', calls: ['a'] });
    expect(readSettings({ taskId: token, resumeFrom: token })).toEqual({ taskId: token, resumeFrom: token });
  });

  it.each([
    ['swarm', 1, 'a non-empty text'],
    ['entrypoint', '', 'a non-empty text'],
    ['bypassSupervisor', 'yes', 'true or false'],
    ['taskId', 7, 'the id of a task or a resumeToken'],
    ['taskId', 'mail-resume:broken', 'the id of a task or a resumeToken'],
    ['resumeFrom', 'somewhere', '"user_response", "breakpoint_tool_call" or a resumeToken'],
    ['resumeFrom', 'mail-resume:broken', '"user_response", "breakpoint_tool_call" or a resumeToken'],
    ['breakpointTools', 'ask_user', 'a list of tool names'],
    ['maxSteps', 0, 'a positive whole number'],
    ['toolCalls', 'none', '"actions" or "all"'],
    ['silenceMs', Number.NaN, 'a positive number'],
  ])('rejects %s: %j and names the expected value', (key, value, expected) => {
    expect(() => readSettings({ [key]: value })).toThrow(`The MAIL setting "${key}" is `);
    expect(() => readSettings({ [key]: value })).toThrow(`Set it to ${expected}`);
  });
});
