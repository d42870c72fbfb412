// @ts-check
import { generateId } from '@intertie/core';
import { createRunFlusher } from '@intertie/core/internal';

/** @import { Store } from '@intertie/core';
import { Started } from '@intertie/core/store' */

const words = ['lorem ', 'ipsum ', 'dolor ', 'sit ', 'amet '];

/**
 * Writes so many events a second in each of so many runs, and measures the number of statements, their cost, and the time from an
 * event to its commit.
 * @param {Store} store
 * @param {{ runs: number, perSecond: number, seconds: number, serverCpu: () => number | undefined }} load
 */
export async function flushLoad(store, { runs, perSecond, seconds, serverCpu }) {
  const { log, registry, scope } = store;
  let statements = 0;
  const flusher = createRunFlusher({
    log: {
      ...log,
      append(batches) {
        statements += 1;
        return log.append(batches);
      },
    },
  });
  await registry.heartbeat('bench');
  const writers = [];
  for (let n = 0; n < runs; n++) {
    const [runId, messageId] = [generateId(), generateId()];
    const request = { threadId: runId, runId, messageId, agent: 'bench', process: 'bench' };
    const started = await registry.start(scope, { ...request, busy: 'reject', pending: 'supersede' });
    const owned = /** @type {Started} */ (started);
    const writer = flusher.open(owned);
    writer.write({ type: 'text-start', id: 'p' });
    writers.push({ key: owned.run.key, writer });
  }
  /** When each event that is not yet durable was written, by run. @type {Map<string, number[]>} */
  const waiting = new Map(writers.map(({ key }) => [key, []]));
  /** @type {number[]} */
  const latencies = [];
  for (const { key } of writers) {
    flusher.follow(key, (batch) => {
      const now = performance.now();
      if (!batch) return;
      // A delivery contains everything written before the statement began, so this is a lower bound of the latency.
      const times = waiting.get(key) ?? [];
      const written = batch.events.reduce(
        (sum, event) => sum + ('delta' in event ? event.delta.split(' ').length - 1 : 0),
        0,
      );
      for (const time of times.splice(0, written)) latencies.push(now - time);
    });
  }
  statements = 0;
  const [cpu, server, begun] = [process.cpuUsage(), serverCpu(), performance.now()];
  let written = 0;
  await new Promise((resolve) => {
    const every = setInterval(() => {
      const due = Math.floor(((performance.now() - begun) / 1000) * perSecond * runs);
      for (; written < due; written++) {
        const { key, writer } = writers[written % runs];
        waiting.get(key)?.push(performance.now());
        writer.write({ type: 'text-delta', id: 'p', delta: words[written % words.length] });
      }
      if (performance.now() - begun < seconds * 1000) return;
      clearInterval(every);
      resolve(undefined);
    }, 2);
  });
  await Promise.all(writers.map(({ writer }) => writer.barrier()));
  const elapsed = (performance.now() - begun) / 1000;
  const used = process.cpuUsage(cpu);
  const serverUsed = server === undefined ? undefined : (serverCpu() ?? 0) - server;
  await flusher.close();
  await registry.retire('bench');
  latencies.sort((a, b) => a - b);
  const at = (/** @type {number} */ share) => latencies[Math.floor(share * (latencies.length - 1))] ?? 0;
  return {
    events: latencies.length,
    p50: at(0.5),
    p99: at(0.99),
    low: at(0),
    statementsPerSecond: statements / elapsed,
    clientCpu: (used.user + used.system) / 1e6 / elapsed,
    serverCpu: serverUsed === undefined ? undefined : serverUsed / elapsed,
  };
}
