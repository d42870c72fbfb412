// @ts-check
import { seal, sourceStream } from '@intertie/core';
import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Source that counts to the number in the last message, one checkpoint per number. It continues a run after the last checkpoint in
 * the log. The message `crash` ends the process.
 * @param {{ delayMs?: number }} [options]
 * @returns {import('@intertie/core').AgentSource}
 */
export function resumableSource({ delayMs = 10 } = {}) {
  /** @typedef {import('@intertie/core').AgentEvent} AgentEvent */
  /**
   * @param {import('@intertie/core').RunInput} run
   * @param {number} done
   * @param {boolean} isOpen
   * @returns {AsyncGenerator<AgentEvent>}
   */
  async function* count(run, done, isOpen) {
    const part = run.history.at(-1)?.content.parts[0];
    const text = part?.type === 'text' ? part.text : '';
    const id = `${run.runId}:text`;
    if (!isOpen) yield { type: 'text-start', id };
    if (text === 'crash') process.kill(process.pid, 'SIGKILL');
    for (let n = done + 1; n <= Number(text); n++) {
      await sleep(delayMs);
      yield { type: 'text-delta', id, delta: `${n} ` };
      yield { type: 'checkpoint', token: n };
    }
    yield { type: 'text-end', id };
    yield { type: 'run-end', outcome: 'complete' };
  }
  const ignore = () => {};
  return {
    name: 'counter',
    pauses: 'replay',
    run: (run, { signal }) => sourceStream(count(run, 0, false), seal(run, ignore), { signal }),
    resume: (run, from, { signal }) => {
      // The text may be ahead of the last checkpoint.
      const part = from.message.content.parts.find(({ type }) => type === 'text');
      const written = part?.type === 'text' ? part.text.split(' ').length - 1 : 0;
      const events = count(
        run,
        written,
        from.open.some(({ kind }) => kind === 'text'),
      );
      return sourceStream(events, seal(run, ignore, { log: from.events }), { signal });
    },
  };
}
