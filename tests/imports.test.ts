import { readFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { dirname, join, normalize } from 'node:path';

import { parseSync, Visitor } from 'rolldown/utils';
import { describe, expect, it } from 'vitest';

import { filesIn, packages, root } from '../scripts/workspace.mjs';

/** Workspace packages that each package may import, and whether all or some of its files may use Node.js modules. */
const table: Record<string, { imports: string[] | 'all'; node?: true | string[] }> = {
  core: { imports: [] },
  'ai-sdk': { imports: ['core'] },
  mail: { imports: ['core', 'ai-sdk'], node: ['demo.ts'] },
  'open-harness': { imports: ['core', 'ai-sdk'] },
  'ag-ui': { imports: ['core', 'ai-sdk'] },
  a2a: { imports: ['core'] },
  openai: { imports: ['core'] },
  conformance: { imports: ['core'] },
  postgres: { imports: ['core'], node: true },
  nats: { imports: ['core'], node: true },
  agent: { imports: ['core', 'ai-sdk'] },
  server: { imports: 'all', node: true },
  console: { imports: ['core', 'ai-sdk', 'ag-ui', 'conformance'] },
};

type Import = { specifier: string; typeOnly: boolean; statement: string };
type Range = { start: number; end: number };

/** Returns every module that a file names: imports, re-exports, `import()` and `import('…')` types. */
function readImports(path: string, text: string): Import[] {
  const { program, errors } = parseSync(path, text);
  if (errors.length) throw new SyntaxError(`${path}: ${errors[0]?.message}`);
  const found: Import[] = [];
  const add = (specifier: string, kind: string | undefined, { start, end }: Range): void =>
    void found.push({
      specifier,
      typeOnly: kind === 'type',
      statement: text.slice(start, end).replaceAll(/\s+/g, ' '),
    });
  new Visitor({
    // `import { type A }` is not type-only: with verbatimModuleSyntax the statement stays.
    ImportDeclaration: (node) => add(node.source.value, node.importKind, node),
    ExportAllDeclaration: (node) => add(node.source.value, node.exportKind, node),
    ExportNamedDeclaration: (node) => void (node.source && add(node.source.value, node.exportKind, node)),
    ImportExpression: (node) =>
      add(node.source.type === 'Literal' ? String(node.source.value) : '(computed)', 'value', node),
    TSImportType: (node) => add(node.source.value, 'type', node),
  }).visit(program);
  return found;
}

const resolveImport = (file: string, specifier: string): string =>
  normalize(join(dirname(file), specifier)).replaceAll('\\', '/');

/** Returns the first cycle of a graph. */
function findCycle(graph: Map<string, string[]>): string[] | undefined {
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

/**
 * Returns the import statements of the first cycle between folders, type-only imports included. Files directly in `src` compose the
 * package, so they are exempt. A folder and its own subfolders may import each other.
 */
function findFolderCycle(imports: Map<string, Import[]>): string[] {
  const folders = new Map<string, Map<string, string>>();
  for (const [file, list] of imports) {
    const from = dirname(file);
    const edges = new Map(folders.get(from));
    for (const { specifier, statement } of list.filter((each) => each.specifier.startsWith('.'))) {
      const to = dirname(resolveImport(file, specifier));
      const isNested = `${to}/`.startsWith(`${from}/`) || `${from}/`.startsWith(`${to}/`);
      if (!isNested && !edges.has(to)) edges.set(to, `${file}: ${statement}`);
    }
    if (from !== '.') folders.set(from, edges);
  }
  const cycle = findCycle(new Map([...folders].map(([from, edges]) => [from, [...edges.keys()]]))) ?? [];
  return cycle.slice(1).map((to, index) => folders.get(cycle[index]!)!.get(to)!);
}

/** Returns the package of a bare specifier: `a` for `a/b`, `@a/b` for `@a/b/c`. */
const getPackage = (specifier: string): string =>
  specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');

const workspace = packages();

describe.each(workspace)('the imports of $name', ({ name, folder, path, manifest }) => {
  const short = folder.split('/')[1]!;
  const files = filesIn(join(path, 'src')).filter((f) => /\.[cm]?tsx?$/.test(f) && !/\.(test|test-d|soak)\./.test(f));
  const imports = new Map(files.map((f) => [f, readImports(f, readFileSync(join(path, 'src', f), 'utf8'))]));

  it('imports only modules that are in the table, declared, or inside the package', () => {
    const row = table[short];
    if (!row) throw new Error(`${folder} is not in the import table of tests/imports.test.ts. Add it.`);
    const allowed = new Set(
      workspace
        .filter((p) => row.imports === 'all' || row.imports.includes(p.folder.split('/')[1]!))
        .map((p) => p.name),
    );
    const declared = new Set(Object.keys({ ...manifest.dependencies, ...manifest.peerDependencies }));
    const ours = new Set(workspace.map((p) => p.name));

    const findProblem = (file: string, specifier: string): string | undefined => {
      const mayUseNode = row.node === true || row.node?.includes(file);
      if (specifier.startsWith('.')) {
        const target = resolveImport(file, specifier);
        if (target.startsWith('../')) return 'leaves the package’s src';
        return imports.has(target) || !/\.[cm]?tsx?$/.test(target) ? undefined : 'is a test or does not exist';
      }
      if (specifier === '(computed)') return mayUseNode ? undefined : 'is not known before run time';
      if (isBuiltin(specifier)) {
        if (!mayUseNode) return 'is a Node.js module, and this package also runs on other platforms';
        return specifier.startsWith('node:') ? undefined : 'is a Node.js module: write node:';
      }
      const target = getPackage(specifier);
      if (ours.has(target) && target !== name && !allowed.has(target)) return 'is not allowed by the import table';
      return declared.has(target) ? undefined : 'is not declared in package.json';
    };

    const problems = [...imports].flatMap(([file, list]) =>
      list.flatMap(({ specifier }) => {
        const problem = findProblem(file, specifier);
        return problem ? [`${folder}/src/${file}: '${specifier}' ${problem}`] : [];
      }),
    );
    expect(problems).toEqual([]);
  });

  it('has no import cycle at run time', () => {
    const graph = new Map(
      [...imports].map(([file, list]) => [
        file,
        list
          .filter(({ specifier, typeOnly }) => specifier.startsWith('.') && !typeOnly)
          .map(({ specifier }) => resolveImport(file, specifier)),
      ]),
    );
    expect(findCycle(graph)?.join(' → ')).toBeUndefined();
  });

  it('has no import cycle between folders', () => {
    expect(findFolderCycle(imports)).toEqual([]);
  });
});

it('lists the allowed imports in docs/architecture.md', () => {
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

describe('the import check', () => {
  it('finds every form of import', () => {
    const text = `import type { A } from 'a'; import { type B } from 'b'; export * from 'c'; export type { D } from 'd';
      const e = await import('e'); const f = await import(e.name); type G = import('g').G; import 'h';`;
    const found = readImports('a.ts', text).toSorted((a, b) => (a.specifier < b.specifier ? -1 : 1));
    expect(found.map((i) => `${i.specifier}${i.typeOnly ? ' type' : ''}`)).toEqual([
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

  it('finds a cycle, and accepts a diamond', () => {
    const graph = (edges: Record<string, string[]>): Map<string, string[]> => new Map(Object.entries(edges));
    expect(findCycle(graph({ a: ['b', 'c'], b: ['d'], c: ['d'], d: [] }))).toBeUndefined();
    expect(findCycle(graph({ a: ['b'], b: ['c'], c: ['b'] }))).toEqual(['b', 'c', 'b']);
  });

  it('prints the statements of a cycle between folders, and exempts the root and subfolders', () => {
    const files = {
      'index.ts': `import { a } from './a/a.ts';`,
      'a/a.ts': `import { b } from '../b/b.ts'; import { nested } from './nested/a.ts'; import { index } from '../index.ts';`,
      'a/nested/a.ts': `import { a } from '../a.ts';`,
      'b/b.ts': `export type { C } from\n  '../c/c.ts';`,
      'c/c.ts': `import '../a/a.ts';`,
    };
    const imports = new Map(Object.entries(files).map(([file, text]) => [file, readImports(file, text)]));
    expect(findFolderCycle(imports)).toEqual([
      `a/a.ts: import { b } from '../b/b.ts';`,
      `b/b.ts: export type { C } from '../c/c.ts';`,
      `c/c.ts: import '../a/a.ts';`,
    ]);
    imports.delete('c/c.ts');
    expect(findFolderCycle(imports)).toEqual([]);
  });
});
