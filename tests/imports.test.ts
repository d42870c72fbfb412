import { readFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { dirname, join, normalize } from 'node:path';

import { parseSync, Visitor } from 'rolldown/utils';
import { describe, expect, it } from 'vitest';

import { filesIn, packages, root } from '../scripts/workspace.mjs';

/** Which packages of the workspace each may import, and whether it, or which of its files, may use Node's own modules. */
const table: Record<string, { imports: string[] | 'all'; node?: true | string[] }> = {
  core: { imports: [] },
  'ai-sdk': { imports: ['core'] },
  mail: { imports: ['core', 'ai-sdk'], node: ['demo.ts'] },
  'open-harness': { imports: ['core', 'ai-sdk'] },
  'ag-ui': { imports: ['core', 'ai-sdk'] },
  conformance: { imports: ['core'] },
  postgres: { imports: ['core'], node: true },
  agent: { imports: ['core', 'ai-sdk'] },
  server: { imports: 'all', node: true },
  console: { imports: ['core', 'ai-sdk', 'ag-ui', 'conformance'] },
};

type Import = { specifier: string; typeOnly: boolean };

/** Every module that a file names: imports, re-exports, `import()` and `import('…')` types. */
function importsOf(path: string, text: string): Import[] {
  const { program, errors } = parseSync(path, text);
  if (errors.length) throw new SyntaxError(`${path}: ${errors[0]?.message}`);
  const found: Import[] = [];
  const add = (specifier: string, kind: string | undefined): void =>
    void found.push({ specifier, typeOnly: kind === 'type' });
  new Visitor({
    // `import { type A }` is not type-only: with verbatimModuleSyntax the statement stays.
    ImportDeclaration: (node) => add(node.source.value, node.importKind),
    ExportAllDeclaration: (node) => add(node.source.value, node.exportKind),
    ExportNamedDeclaration: (node) => void (node.source && add(node.source.value, node.exportKind)),
    ImportExpression: ({ source }) => add(source.type === 'Literal' ? String(source.value) : '(computed)', 'value'),
    TSImportType: (node) => add(node.source.value, 'type'),
  }).visit(program);
  return found;
}

/** The first cycle along edges that exist at run time, or none. */
function cycleIn(graph: Map<string, string[]>): string[] | undefined {
  const done = new Set<string>();
  const visit = (file: string, path: string[]): string[] | undefined => {
    if (path.includes(file)) return [...path.slice(path.indexOf(file)), file];
    if (done.has(file)) return undefined;
    for (const next of graph.get(file) ?? []) {
      const cycle = visit(next, [...path, file]);
      if (cycle) return cycle;
    }
    done.add(file);
    return undefined;
  };
  for (const file of graph.keys()) {
    const cycle = visit(file, []);
    if (cycle) return cycle;
  }
  return undefined;
}

/** The package of a bare specifier: `a` of `a/b`, `@a/b` of `@a/b/c`. */
const packageOf = (specifier: string): string =>
  specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');

const workspace = packages();

describe.each(workspace)('the imports of $name', ({ name, folder, path, manifest }) => {
  const short = folder.split('/')[1]!;
  const files = filesIn(join(path, 'src')).filter((f) => /\.[cm]?tsx?$/.test(f) && !/\.(test|test-d|soak)\./.test(f));
  const imports = new Map(files.map((f) => [f, importsOf(f, readFileSync(join(path, 'src', f), 'utf8'))]));

  it('are in the table, declared, or inside the package', () => {
    const row = table[short];
    if (!row) throw new Error(`${folder} is not in the import table of tests/imports.test.ts: say what it may import.`);
    const allowed = new Set(
      workspace
        .filter((p) => row.imports === 'all' || row.imports.includes(p.folder.split('/')[1]!))
        .map((p) => p.name),
    );
    const declared = new Set(Object.keys({ ...manifest.dependencies, ...manifest.peerDependencies }));
    const ours = new Set(workspace.map((p) => p.name));

    const complaint = (file: string, specifier: string): string | undefined => {
      const mayUseNode = row.node === true || row.node?.includes(file);
      if (specifier.startsWith('.')) {
        const target = normalize(join(dirname(file), specifier)).replaceAll('\\', '/');
        if (target.startsWith('../')) return 'leaves the package’s src';
        return imports.has(target) || !/\.[cm]?tsx?$/.test(target) ? undefined : 'is a test or does not exist';
      }
      if (specifier === '(computed)') return mayUseNode ? undefined : 'is not known before it runs';
      if (isBuiltin(specifier)) {
        if (!mayUseNode) return 'is Node’s own, and this package also runs elsewhere';
        return specifier.startsWith('node:') ? undefined : 'is Node’s own: write node:';
      }
      const target = packageOf(specifier);
      if (ours.has(target) && target !== name && !allowed.has(target)) return 'is not allowed by the import table';
      return declared.has(target) ? undefined : 'is not declared in package.json';
    };

    const complaints = [...imports].flatMap(([file, list]) =>
      list.flatMap(({ specifier }) => {
        const why = complaint(file, specifier);
        return why ? [`${folder}/src/${file}: '${specifier}' ${why}`] : [];
      }),
    );
    expect(complaints).toEqual([]);
  });

  it('have no cycle at run time', () => {
    const graph = new Map(
      [...imports].map(([file, list]) => [
        file,
        list
          .filter(({ specifier, typeOnly }) => specifier.startsWith('.') && !typeOnly)
          .map(({ specifier }) => normalize(join(dirname(file), specifier)).replaceAll('\\', '/')),
      ]),
    );
    expect(cycleIn(graph)?.join(' → ')).toBeUndefined();
  });
});

it('is the table that people read', () => {
  const rows = readFileSync(join(root, 'docs/architecture.md'), 'utf8').matchAll(
    /^\| `(?:apps\/)?([\w-]+)` .*\| ([\w, -]+?) *\|$/gm,
  );
  const read = Object.fromEntries([...rows].map(([, name, imports]) => [name, imports]));
  const written = Object.entries(table).map(([name, { imports }]) => {
    const list = imports === 'all' ? imports : imports.join(', ');
    return [name, list === '' ? 'nothing' : list];
  });
  expect(read).toEqual(Object.fromEntries(written));
});

describe('the check itself', () => {
  it('sees every form of import', () => {
    const text = `import type { A } from 'a'; import { type B } from 'b'; export * from 'c'; export type { D } from 'd';
      const e = await import('e'); const f = await import(e.name); type G = import('g').G; import 'h';`;
    const seen = importsOf('a.ts', text).toSorted((a, b) => (a.specifier < b.specifier ? -1 : 1));
    expect(seen.map((i) => `${i.specifier}${i.typeOnly ? ' type' : ''}`)).toEqual([
      '(computed)',
      'a type',
      'b',
      'c',
      'd type',
      'e',
      'g type',
      'h',
    ]);
  });

  it('finds a cycle, and takes a diamond for none', () => {
    const graph = (edges: Record<string, string[]>): Map<string, string[]> => new Map(Object.entries(edges));
    expect(cycleIn(graph({ a: ['b', 'c'], b: ['d'], c: ['d'], d: [] }))).toBeUndefined();
    expect(cycleIn(graph({ a: ['b'], b: ['c'], c: ['b'] }))).toEqual(['b', 'c', 'b']);
  });
});
