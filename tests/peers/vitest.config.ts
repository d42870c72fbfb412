import { fileURLToPath } from 'node:url';

import { defineConfig } from 'vitest/config';

// Without the `@intertie/source` condition, so that the built packages are tested.
export default defineConfig({
  root: fileURLToPath(new URL('.', import.meta.url)),
  test: {
    include: ['*.test.ts'],
    reporters: ['default', fileURLToPath(new URL('../../scripts/reporter.mjs', import.meta.url))],
    // Some of these tests pack or publish the packages, which builds the console in one shared folder.
    fileParallelism: false,
    testTimeout: 120_000,
    hookTimeout: 120_000,
  },
});
