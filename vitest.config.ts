import { availableParallelism } from 'node:os';

import { defineConfig } from 'vitest/config';

const conditions = ['@intertie/source', 'module', 'node', 'development|production'];

export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions } },
  test: {
    include: ['{packages,apps}/*/src/**/*.test.ts', 'packages/*/test/**/*.test.ts', 'tests/*.test.ts'],
    reporters: ['default', './scripts/reporter.mjs'],
    // Two at the least: much of what they do is waiting for a database or another process.
    maxWorkers: Math.max(2, availableParallelism()),
    // A property on a busy machine takes its time; what hangs is still found.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    typecheck: { enabled: false },
  },
});
