import { fileURLToPath } from 'node:url';

import { defineConfig } from 'vitest/config';

// Without the `@intertie/source` condition, so that the tests use the built packages.
export default defineConfig({
  root: fileURLToPath(new URL('.', import.meta.url)),
  test: {
    include: ['*.test.ts'],
    globalSetup: fileURLToPath(new URL('console-build.ts', import.meta.url)),
    reporters: ['default', fileURLToPath(new URL('../../scripts/reporter.mjs', import.meta.url))],
    testTimeout: 120_000,
    hookTimeout: 120_000,
  },
});
