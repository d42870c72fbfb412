import { execFileSync } from 'node:child_process';
import { existsSync, lstatSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

import { describe, expect, it } from 'vitest';

import { packages, root } from '../scripts/workspace.mjs';

// Includes untracked files, so that a mistake is found before it is committed.
const files = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], { cwd: root })
  .toString()
  .split('\0')
  .filter((file) => file && existsSync(join(root, file)) && lstatSync(join(root, file)).isFile())
  .map((file) => ({ file, bytes: readFileSync(join(root, file)) }))
  // Git's heuristic for binary files.
  .filter(({ bytes }) => !bytes.subarray(0, 8000).includes(0))
  .map(({ file, bytes }) => ({ file, text: bytes.toString() }));

/** Returns the lines of text files that match, as `file:line: match`. */
function findLines(pattern: RegExp, isIncluded: (file: string) => boolean = () => true): string[] {
  return files
    .filter(({ file }) => isIncluded(file))
    .flatMap(({ file, text }) =>
      [...text.matchAll(pattern)].map((match) => {
        const line = text.slice(0, match.index).split('\n').length;
        return `${file}:${line}: ${match[0].trim().slice(0, 120)}`;
      }),
    );
}

// The patterns are composed so that they do not match themselves.
const homes = ['work', 'root', 'home', 'Users'].join('|');
const hosts = [
  ['registry', '(npmjs|yarnpkg|npmmirror)'],
  ['npm', 'pkg', 'github'],
  ['files', 'pythonhosted'],
  ['unpkg', 'com'],
];

describe('the tree', () => {
  it('has no machine paths', () => {
    expect(findLines(new RegExp(String.raw`(?<![\w.~$}/*-])/(${homes})/[\w.-]`, 'g'))).toEqual([]);
  });

  it('names no registry host, not even in lockfiles', () => {
    const pattern = hosts.map((labels) => labels.join(String.raw`\.`)).join('|');
    expect(findLines(new RegExp(pattern, 'g'))).toEqual([]);
    expect(findLines(/"resolved": "[^"]*:\/\/.*/g, (file) => file.endsWith('package-lock.json'))).toEqual([]);
  });

  it.each(files.filter(({ file }) => file.endsWith('package-lock.json')))('locks every platform: $file', ({ text }) => {
    type Locked = { name?: string; optionalDependencies?: Record<string, string> };
    const { packages: locked } = JSON.parse(text) as { packages: Record<string, Locked> };
    const names = new Set(Object.keys(locked).map((path) => path.split('node_modules/').at(-1)));
    const required = Object.values(locked).flatMap((entry) => Object.keys(entry.optionalDependencies ?? {}));
    // A lockfile that was written without the binary of some platform makes `npm ci` fail there.
    expect(required.filter((name) => !names.has(name))).toEqual([]);
  });

  it('has no broken links', () => {
    const broken = files
      .filter(({ file }) => file.endsWith('.md'))
      .flatMap(({ file, text }) =>
        [...text.replaceAll(/^```.*?^```$/gms, '').matchAll(/\]\((?!\w+:|#)([^)#\s]+)/g)]
          .map(([, link]) => link!)
          .filter((link) => !existsSync(join(root, dirname(file), decodeURI(link))))
          .map((link) => `${file}: ${link}`),
      );
    expect(broken).toEqual([]);
  });

  it('has no comments in shell blocks, which zsh passes to the command', () => {
    const blocks = /^```sh.*\n(?:(?!```).*\n)*?(?!```).*\s#\s.*$/gm;
    expect(findLines(blocks, (file) => file.endsWith('.md'))).toEqual([]);
  });

  it('names the version where a page first mentions MAIL', () => {
    const pages = files.filter(({ file }) => file.endsWith('.md') && !file.startsWith('.changeset/'));
    const without = pages.filter(({ text }) => /\bMAIL\b( 1\.3\b)?/.exec(text)?.[0] === 'MAIL');
    expect(without.map(({ file }) => file)).toEqual([]);
  });

  it('has every file that its developer docs mention', () => {
    const developerDocs = /^(CONTRIBUTING|docs\/architecture|docs\/decisions\/[\w-]+|apps\/console\/README)\.md$/;
    const missing = files
      .filter(({ file }) => developerDocs.test(file))
      .flatMap(({ file, text }) =>
        [...text.matchAll(/(?<=`|^)[\w./-]+\.(?:tsx?|mjs)\b/gm)]
          .map(([path]) => path)
          .filter((path) => !files.some((other) => `/${other.file}`.endsWith(`/${path}`)))
          .map((path) => `${file}: ${path}`),
      );
    expect(missing).toEqual([]);
  });

  it('runs all of its tests', () => {
    const isTest = (file: string): boolean => /\.(test|test-d|soak)\.ts$/.test(file);
    const modifier = String.raw`\b(it|test|describe|suite|bench)(\.\w+)*\.`;
    expect(findLines(new RegExp(`${modifier}only\\b.*`, 'g'), isTest)).toEqual([]);
    // These skip silently. In CI the reporter fails on every skipped test.
    const hint = `write it('…', (context) => { context.skip(condition, 'why'); … }), which prints the reason`;
    expect(findLines(new RegExp(`${modifier}(skip|skipIf|runIf|todo|fails)\\b.*`, 'g'), isTest), hint).toEqual([]);
    expect(findLines(/\b\w+\.skip\((?![^;]*['"`][^;]*\)).*/g, isTest), hint).toEqual([]);
  });
});

describe.each(packages())('$name', ({ folder, path, manifest }) => {
  it('has a README and declares its license', () => {
    expect(existsSync(join(path, 'README.md')), `${folder}/README.md exists`).toBe(true);
    expect(manifest.license).toBe('MIT');
  });
});
