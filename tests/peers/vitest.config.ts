import { fileURLToPath } from 'node:url';

import { defineConfig } from 'vitest/config';

// Without the `@intertie/source` condition: here the packages are what was built.
export default defineConfig({
  root: fileURLToPath(new URL('.', import.meta.url)),
  test: {
    include: ['*.test.ts'],
    reporters: ['default', fileURLToPath(new URL('../../scripts/reporter.mjs', import.meta.url))],
    // Two of them pack the packages, and the console is built for that, in one place.
    fileParallelism: false,
    testTimeout: 120_000,
    hookTimeout: 120_000,
  },
});
