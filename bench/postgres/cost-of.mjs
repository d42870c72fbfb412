// @ts-check

/**
 * What something costs in work, not in time, which says more on a busy machine: microseconds for each of its items, here
 * and on the server, and the bytes of its log where they are asked for.
 * @param {{ items: number, serverCpu: () => number | undefined, logBytes?: (() => Promise<number>) | undefined }} how
 * @param {() => Promise<unknown>} work
 */
export async function costOf({ items, serverCpu, logBytes }, work) {
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
