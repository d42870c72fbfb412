import { join } from 'node:path';
import { gzipSync } from 'node:zlib';

import { rolldown } from 'rolldown';
import { describe, expect, it } from 'vitest';

import { root } from '../scripts/workspace.mjs';

/** Everything that a package exports, minified and compressed: what a page pays that imports it all. */
const budgets = [{ folder: 'core', gzip: 20_000 }];

describe.each(budgets)('the bundle of $folder', ({ folder, gzip }) => {
  it(`is below ${gzip} bytes and needs nothing else`, async ({ annotate }) => {
    const bundle = await rolldown({
      input: join(root, 'packages', folder, 'src/index.ts'),
      platform: 'neutral',
      // Nothing may be left outside; without this an unknown import is only a warning.
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
    const figure = `${folder}: ${chunk.code.length} bytes minified, ${size} gzipped, budget ${gzip}`;
    console.log(figure);
    await annotate(figure);
    expect(size, figure).toBeLessThan(gzip);
  });
});
