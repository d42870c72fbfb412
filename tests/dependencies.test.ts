import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect, it } from 'vitest';

import { libraries, root } from '../scripts/workspace.mjs';

const ours = new Map(libraries().map(({ name, manifest }) => [name, manifest]));
const external = libraries().flatMap(({ name, manifest }) => {
  const { dependencies = {}, peerDependencies = {}, peerDependenciesMeta = {} } = manifest;
  return [
    ...Object.entries(dependencies).map(([dependency, range]) => ({ kind: 'dependency', name, dependency, range })),
    ...Object.entries(peerDependencies).map(([dependency, range]) => {
      const kind = peerDependenciesMeta[dependency]?.optional === true ? 'optional peer' : 'peer';
      return { kind, name, dependency, range };
    }),
  ];
});

describe('run-time dependencies', () => {
  it('lists all of them with a reason in docs/decisions/dependencies.md', () => {
    const page = readFileSync(join(root, 'docs/decisions/dependencies.md'), 'utf8');
    const listed = [...page.matchAll(/^\| `([^`]+)` +\| ([a-z ]+?) +\| (`.+?`) +\| \S.*\|$/gm)].flatMap(
      ([, dependency, kind, names]) =>
        [...names!.matchAll(/`([^`]+)`/g)].map(([, name]) => `${dependency} ${kind} of ${name}`),
    );
    const declared = external
      .filter(({ dependency }) => !ours.has(dependency))
      .map(({ dependency, kind, name }) => `${dependency} ${kind} of ${name.replace('@intertie/', '')}`);
    expect(listed.toSorted()).toEqual(declared.toSorted());
  });

  it('allows every compatible version', () => {
    const isRange = (range: string): boolean => range.split(' || ').every((part) => /^(\^|>=)\d/.test(part));
    expect(external.filter(({ range }) => !isRange(range))).toEqual([]);
  });

  it('requires our packages in their current version', () => {
    const internal = external.filter(({ dependency }) => ours.has(dependency));
    expect(internal.filter(({ dependency, range }) => range !== `^${ours.get(dependency)!.version}`)).toEqual([]);
    expect(new Set([...ours.values()].map(({ version }) => version)).size).toBe(1);
  });
});
