import { availableParallelism } from 'node:os';

import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

const conditions = ['@intertie/source', 'module', 'node', 'development|production'];

const isUnit = ({ moduleId }: TestSpecification): boolean => moduleId.includes('/src/');

/** Starts integration tests first: they take longest, and a long file that starts last runs alone. */
class IntegrationFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    // oxlint-disable-next-line unicorn/no-array-sort -- a method of the sequencer
    const sorted = await super.sort(files);
    return [...sorted.filter((file) => !isUnit(file)), ...sorted.filter(isUnit)];
  }
}

export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions } },
  test: {
    include: ['{packages,apps}/*/src/**/*.test.ts', 'packages/*/test/**/*.test.ts', 'tests/*.test.ts'],
    reporters: ['default', './scripts/reporter.mjs'],
    // More workers than cores, because many tests wait for a database or another process.
    maxWorkers: Math.max(2, availableParallelism()) + 1,
    sequence: { sequencer: IntegrationFirst },
    // Property tests are slow on a busy machine. A test that hangs still fails.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    typecheck: { enabled: false },
  },
});
