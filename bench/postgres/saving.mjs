// @ts-check
import { generateId } from '@intertie/core';

import { compareRounds, measureAlternately, spread, time } from '../measure.mjs';
import { openBareTable } from './bare-table.mjs';
import { measureCost } from './measure-cost.mjs';
import { mastraMessage, ourMessage } from './sample-messages.mjs';
import { openBoth, peerName } from './stores.mjs';

/** @import { Options, Row } from '../measure.mjs' */
/** @import { Server } from './server.mjs' */

/** Messages per save, and saves per timing, because a single save is too short to time. */
const sizes = /** @type {const} */ ([
  [1, 50],
  [100, 10],
  [1000, 3],
]);
/** The code of both stores is compiled gradually, and takes half as long after some hundred saves as at first. */
const warmUpMs = 5000;

/**
 * Measures saves of several sizes in both stores, and the lower bound.
 * @param {Options} options
 * @param {Server} server
 * @param {string} url
 * @param {string} where
 */
export async function saving(options, server, url, where) {
  const stores = await openBoth(url);
  const bare = await openBareTable(url);
  /** @type {Row[]} */
  const rows = [];
  for (const [count, times] of sizes) {
    const parties = await openThread(stores, bare, count);
    const name = `save ${count} message${count === 1 ? '' : 's'} (×${times}), ${where}`;
    const how = { name, count, times, serverCpu: server.cpuSeconds };
    const { figures, costs } = await contest(options, how, parties);
    const [ours = [], theirs = [], floor = []] = figures;
    const row = { name, events: count * times, ours: spread(ours) };
    const note = `work a message, Node + Postgres: ours ${costs[0]}, theirs ${costs[1]}`;
    rows.push({
      ...row,
      peerName,
      ...compareRounds(ours, theirs),
      note: `${note}; why not less: docs/decisions/long-saves.md`,
    });
    const floorName = 'a bare insert and its commit: the floor';
    rows.push({ ...row, peerName: floorName, ...compareRounds(ours, floor), note: `its work: ${costs[2]}` });
  }
  await bare.close();
  await stores.close();
  return rows;
}

/**
 * Measures the cost of leaving compression to the server, which compresses shorter messages than we let it. Uses the bare table,
 * which adds no other cost.
 * @param {Options} options
 * @param {Server} server
 * @returns {Promise<Row>}
 */
export async function compressing(options, server) {
  const [count, times] = [100, 10];
  const tables = [await openBareTable(server.url), await openBareTable(server.url, { isLeftToServer: true })];
  const parties = tables.map((table) => createParty('t', count, ourMessage, (messages) => table.save(messages)));
  const name = `bare insert of ${count} messages (×${times}), those of up to 4 kB as they are`;
  const how = { name, count, times, serverCpu: server.cpuSeconds, logBytes: tables[0]?.logBytes };
  const { figures, costs } = await contest(options, how, parties);
  const [plain = [], compressed = []] = figures;
  for (const table of tables) await table.close();
  const note = `a message, Node + Postgres: ${costs[0]}, left to the server ${costs[1]}`;
  const peer = {
    peerName: 'the same, left to the server',
    note: `${note}; why: docs/decisions/uncompressed-messages.md`,
  };
  return { name, events: count * times, ours: spread(plain), ...compareRounds(plain, compressed), ...peer };
}

/**
 * Measures the times alternately, and the CPU cost of each party.
 * @param {Options} options
 * @param {{ name: string, count: number, times: number } & Omit<Parameters<typeof measureCost>[0], 'items'>} how
 * @param {Array<ReturnType<typeof createParty>>} parties
 */
async function contest(options, { name, count, times, ...cost }, parties) {
  // A single repetition only checks that it works.
  const warm = options.repeats > 1 ? { ...options, warmUpMs } : options;
  const timed = parties.map((party) => () => time(party.prepare(times), 'wall'));
  const figures = await measureAlternately(warm, name, timed);
  // Over several rounds, because a garbage collection falls into one of them.
  const how = { ...cost, items: count * times * 4 };
  const costs = [];
  for (const party of parties) costs.push(await measureCost(how, party.prepare(times * 4)));
  return { figures, costs };
}

/**
 * Collects new objects now: otherwise the collections during the saves would copy them twice. Does not run a full collection, which
 * would discard compiled code.
 */
function moveToOldSpace() {
  for (let n = 0; n < 2; n++) globalThis.gc?.({ type: 'minor' });
}

/**
 * Creates a thread in both stores. `prepare` creates messages, which is not measured, and returns the function that saves them.
 * @param {Awaited<ReturnType<typeof openBoth>>} stores
 * @param {Awaited<ReturnType<typeof openBareTable>>} bare
 * @param {number} count
 */
async function openThread({ ours, theirs }, bare, count) {
  const threadId = generateId();
  const now = new Date();
  await ours.saveThread({ thread: { id: threadId } });
  await theirs.saveThread({
    thread: { id: threadId, resourceId: 'bench', title: 'bench', metadata: {}, createdAt: now, updatedAt: now },
  });
  return [
    createParty(threadId, count, ourMessage, (messages) => ours.saveMessages({ messages })),
    createParty(threadId, count, mastraMessage, (messages) =>
      theirs.saveMessages({ messages: /** @type {never} */ (messages) }),
    ),
    createParty(threadId, count, ourMessage, (messages) => bare.save(messages)),
  ];
}

/**
 * @template Message
 * @param {string} threadId
 * @param {number} count
 * @param {(threadId: string, id: string, n: number) => Message} make
 * @param {(messages: Message[]) => Promise<unknown>} save
 */
function createParty(threadId, count, make, save) {
  let n = 0;
  const batch = () => Array.from({ length: count }, () => make(threadId, generateId(), n++));
  return {
    /** @param {number} times */
    prepare(times) {
      const batches = Array.from({ length: times }, batch);
      moveToOldSpace();
      return async () => {
        for (const messages of batches) await save(messages);
      };
    },
  };
}
