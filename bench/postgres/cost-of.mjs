// @ts-check

/**
 * What something costs in work, not in time, which says more on a busy machine: microseconds for each of its items, here
 * and on the server.
 * @param {{ items: number, serverCpu: () => number | undefined }} how
 * @param {() => Promise<unknown>} work
 */
export async function costOf({ items, serverCpu }, work) {
  const before = serverCpu();
  const start = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(start);
  const after = serverCpu();
  const server = before === undefined || after === undefined ? '?' : (((after - before) * 1e6) / items).toFixed(0);
  return `${((user + system) / items).toFixed(0)} + ${server} µs`;
}
