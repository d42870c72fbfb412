// @ts-check

/**
 * Measures CPU time instead of elapsed time, which is more reliable on a busy machine: microseconds per item, in this process
 * and on the server, and optionally the bytes of the write-ahead log.
 * @param {{ items: number, serverCpu: () => number | undefined, logBytes?: (() => Promise<number>) | undefined }} how
 * @param {() => Promise<unknown>} work
 */
export async function measureCost({ items, serverCpu, logBytes }, work) {
  const from = await logBytes?.();
  const before = serverCpu();
  const start = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(start);
  const after = serverCpu();
  const server = before === undefined || after === undefined ? '?' : (((after - before) * 1e6) / items).toFixed(0);
  const cost = `${((user + system) / items).toFixed(0)} + ${server} µs`;
  if (!logBytes || from === undefined) return cost;
  return `${cost} and ${Math.round(((await logBytes()) - from) / items)} bytes of log`;
}
