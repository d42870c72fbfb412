import { defineConfig } from 'vitest/config';

const conditions = ['@intertie/source', 'module', 'node', 'development|production'];

export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions } },
  test: {
    include: ['packages/*/src/**/*.test.ts', 'packages/*/test/**/*.test.ts', 'tests/*.test.ts'],
    reporters: ['default', './scripts/reporter.mjs'],
    typecheck: { enabled: false },
  },
});
