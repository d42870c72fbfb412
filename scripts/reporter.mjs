// @ts-check
import { appendFileSync } from 'node:fs';

/**
 * Adds to vitest's own reporter: prints why a test was skipped, fails on skipped tests in CI, and appends the totals to the file
 * INTERTIE_TALLY for the last line of `.ci/run`.
 */
export default class Reporter {
  /** @type {import('vitest/node').Vitest | undefined} */
  #vitest;

  /** @param {import('vitest/node').Vitest} vitest */
  onInit(vitest) {
    this.#vitest = vitest;
  }

  /** @param {ReadonlyArray<import('vitest/node').TestModule>} modules */
  onTestRunEnd(modules) {
    const cases = modules.flatMap((module) => [...module.children.allTests()]);
    const count = (/** @type {string} */ state) => cases.filter((test) => test.result().state === state).length;
    // A file that does not load has no failed test.
    const broken = modules.filter(
      (module) => module.state() === 'failed' && !module.children.allTests('failed').next().value,
    );

    const skipped = this.#vitest?.config.testNamePattern
      ? []
      : cases.filter((test) => test.result().state === 'skipped');
    for (const test of skipped) {
      const result = test.result();
      const note = result.state === 'skipped' ? result.note : undefined;
      console.log(`skipped: ${test.module.relativeModuleId} > ${test.fullName}: ${note ?? 'no reason given'}`);
    }
    if (process.env.CI && skipped.length > 0) {
      console.log(`${skipped.length} of ${cases.length} tests were skipped. CI does not allow skipped tests.`);
      process.exitCode = 1;
    }
    if (process.env.INTERTIE_TALLY) {
      const failed = count('failed') + broken.length + (process.env.CI ? skipped.length : 0);
      appendFileSync(process.env.INTERTIE_TALLY, `${count('passed')} ${failed}\n`);
    }
  }
}
