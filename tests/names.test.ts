import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

import { describe, expect, it } from 'vitest';

import { root } from '../scripts/workspace.mjs';

type Row = { name: string; package: string; exports: string[]; page: string };

const page = readFileSync(join(root, 'docs/names.md'), 'utf8');
const rows = page.split('\n').flatMap((line): Row[] => {
  const [name, owner, exported, link] = line
    .split('|')
    .slice(1, -1)
    .map((cell) => cell.trim());
  const target = /\]\((?<target>[^)]+)\)/.exec(link ?? '')?.groups?.target;
  if (name === undefined || target === undefined) return [];
  return [{ name, package: inCode(owner!)[0]!, exports: inCode(exported!), page: target }];
});

function inCode(cell: string): string[] {
  return [...cell.matchAll(/`([^`]+)`/g)].map(([, text]) => text!);
}

describe('docs/names.md', () => {
  it.each([
    '@mail/ai-sdk-provider',
    'agent-types',
    'conversation_message',
    '@ag-ui/cloudflare-agents',
    '@open-harness/ai-sdk',
  ])('has a row for %s', (name) => {
    expect(rows.map((row) => row.name)).toContain(`\`${name}\``);
  });

  it('has one row per name', () => {
    expect(new Set(rows.map(({ name }) => name)).size).toBe(rows.length);
  });

  it.each(rows)('leads from $name to exports of $package and to a page that shows them', (row) => {
    const list = readFileSync(join(root, `tests/exports/${row.package.replace('@intertie/', '')}.txt`), 'utf8');
    const known = [...list.matchAll(/^ {2}(?:value|type) +(\S+)/gm)].map(([, name]) => name);
    expect(known).toEqual(expect.arrayContaining(row.exports));
    expect(row.exports.length).toBeGreaterThan(0);
    expect(existsSync(resolve(root, 'docs', row.page))).toBe(true);
    const text = readFileSync(resolve(root, 'docs', row.page), 'utf8');
    expect(row.exports.filter((name) => !text.includes(name))).toEqual([]);
  });
});
