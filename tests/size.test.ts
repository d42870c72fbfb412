import { join } from 'node:path';
import { gzipSync } from 'node:zlib';

import { rolldown } from 'rolldown';
import { describe, expect, it } from 'vitest';

import { root } from '../scripts/workspace.mjs';

/** Maximum size of a bundle with these exports, minified and compressed. */
const budgets = [
  { what: 'the fold', from: 'core', names: '{ MessageList }', gzip: 6_000 },
  { what: 'the fold and the seal', from: 'core', names: '{ MessageList, seal }', gzip: 15_000 },
  {
    what: 'all of core, half of which is the in-memory store and durable runs',
    from: 'core',
    names: '*',
    gzip: 44_000,
  },
  { what: 'the chat transport to a server', from: 'ai-sdk', names: '{ IntertieChatTransport }', gzip: 7_000 },
];

describe.each(budgets)('the bundle of $what', ({ what, from, names, gzip }) => {
  it(`stays below ${gzip} bytes and has no imports`, async ({ annotate }) => {
    const program = `export ${names} from ${JSON.stringify(join(root, 'packages', from, 'src/index.ts'))};`;
    const bundle = await rolldown({
      input: 'page',
      // Core must not depend on the platform. `ai`, which is tree-shaken away, has files for browsers.
      platform: from === 'core' ? 'neutral' : 'browser',
      plugins: [
        {
          name: 'page',
          resolveId: (id) => (id === 'page' ? id : undefined),
          load: (id) => (id === 'page' ? program : undefined),
        },
      ],
      // An unresolved import is only a warning, and must fail here.
      onLog: (level, log) => {
        if (level === 'warn') throw new Error(log.message);
      },
    });
    const { output } = await bundle.generate({ format: 'esm', minify: true });
    await bundle.close();
    expect(output).toHaveLength(1);
    const [chunk] = output;
    expect([...chunk.imports, ...chunk.dynamicImports], 'imports left in the bundle').toEqual([]);

    const size = gzipSync(chunk.code, { level: 9 }).length;
    const figure = `${what}: ${chunk.code.length} bytes minified, ${size} gzipped, budget ${gzip}`;
    console.log(figure);
    await annotate(figure);
    expect(size, figure).toBeLessThan(gzip);
  });
});
