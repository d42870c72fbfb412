import { readdirSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';

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

/** Packages whose unit tests use no database, server or child process. */
const purePackages = ['a2a', 'ag-ui', 'ai-sdk', 'conformance', 'core', 'mail', 'open-harness', 'openai'].map(
  (name) => `packages/${name}`,
);

/** Tests that replace timers or globals need a worker of their own, since they would see the timers of other files. */
const replacesGlobals = /useFakeTimers|vi\.mock|stubGlobal|spyOn\(globalThis/;

/** Tests that can share a worker. One worker per file would load the packages again for each of them. */
const shared = [...purePackages, 'apps/console'].flatMap((folder) =>
  readdirSync(join(import.meta.dirname, folder, 'src'), { recursive: true, encoding: 'utf8' })
    .map((file) => `${folder}/src/${file.replaceAll('\\', '/')}`)
    .filter((file) => file.endsWith('.test.ts'))
    .filter((file) => !replacesGlobals.test(readFileSync(join(import.meta.dirname, file), 'utf8'))),
);

export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions } },
  test: {
    reporters: ['default', './scripts/reporter.mjs'],
    // More workers than cores, because many tests wait for a database or another process.
    maxWorkers: Math.max(2, availableParallelism()) * 2,
    sequence: { sequencer: IntegrationFirst },
    // Property tests are slow on a busy machine. A test that hangs still fails.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    typecheck: { enabled: false },
    projects: [
      { extends: true, test: { name: 'unit', include: shared, isolate: false } },
      {
        extends: true,
        test: {
          name: 'isolated',
          include: ['{packages,apps}/*/src/**/*.test.ts', 'packages/*/test/**/*.test.ts', 'tests/*.test.ts'],
          exclude: ['**/node_modules/**', ...shared],
        },
      },
    ],
  },
});
