import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { defineConfig, mergeConfig, type Plugin } from 'vitest/config';

import { filesIn, packages, root } from './scripts/workspace.mjs';
import config from './vitest.config.ts';

// Every test that uses fast-check, with more runs, and all `*.soak.ts` files.
const soaked = packages().flatMap(({ folder }) =>
  ['src', 'test'].flatMap((part) =>
    filesIn(join(root, folder, part))
      .map((file) => `${folder}/${part}/${file}`)
      .filter((file) => file.endsWith('.test.ts') && readFileSync(join(root, file), 'utf8').includes(`'fast-check'`)),
  ),
);

const standIn = fileURLToPath(new URL('scripts/soak-fast-check.mjs', import.meta.url));
const moreRuns: Plugin = {
  name: 'more-runs',
  enforce: 'pre',
  resolveId: (id, importer) => (id === 'fast-check' && importer !== standIn ? standIn : undefined),
};

const soak = mergeConfig(config, { plugins: [moreRuns], test: { testTimeout: 0, hookTimeout: 0 } });
// The files below replace the projects of `npm test`.
delete soak.test.projects;
soak.test.include = [...soaked, 'packages/*/{src,test}/**/*.soak.ts', 'tests/*.soak.ts'];

export default defineConfig(soak);
