import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { afterAll, describe, expect, it } from 'vitest';

import { root } from '../../scripts/workspace.mjs';
import { findDifference } from './recordings/differences.ts';
import { checks, examine, type Finding, type Recording } from './recordings/examine.ts';
import { findApi } from './recordings/providers.ts';

// `npm run test:peers -- recordings <folder>` reads a folder of recordings: one chunk per line, the provider in the path.
const folder = process.env['INTERTIE_RECORDINGS'] ?? join(root, 'packages/ai-sdk/test/recordings');
const paths = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.chunks.txt'))
  .toSorted();
const recordings = paths.flatMap((path): Recording[] => {
  const api = findApi(path);
  const text = readFileSync(join(folder, path), 'utf8');
  return api === undefined ? [] : [{ path, api, lines: text.split('\n').filter((line) => line.trim() !== '') }];
});

const found: Finding[] = [];
const accepted = new Map<string, number>();

describe.each([6, 7] as const)('on ai %i', (major) => {
  it.each(recordings.map((recording) => [recording.path, recording] as const))('%s', async (path, recording) => {
    const findings = await examine(recording, major);
    const unnamed = findings.filter((finding) => {
      const known = findDifference(finding, `/${path}`, major);
      if (known) accepted.set(known.why, (accepted.get(known.why) ?? 0) + 1);
      return known === undefined;
    });
    found.push(...unnamed);
    expect(unnamed).toEqual([]);
  });
});

it('finds recordings', () => {
  expect(recordings.length).toBeGreaterThan(0);
});

afterAll(() => {
  const lines = checks.map((name) => `  ${name}: ${found.filter(({ check }) => check === name).length} findings`);
  const known = [...accepted].map(([why, count]) => `  accepted ${count} times: ${why}`);
  const skipped = paths.length - recordings.length;
  const title = `${recordings.length} recordings on ai 6 and 7${skipped > 0 ? `, ${skipped} of no language model` : ''}:`;
  process.stdout.write(`${[title, ...lines, ...known].join('\n')}\n`);
});
