// @ts-check
import { generateId } from '@intertie/core';

import { besides, inTurns, spread, time } from '../measure.mjs';
import { openBareTable } from './bare-table.mjs';
import { costOf } from './cost-of.mjs';
import { mastraMessage, ourMessage } from './sample-messages.mjs';
import { openBoth, peerName } from './stores.mjs';

/** @import { Options, Row } from '../measure.mjs' */
/** @import { Server } from './server.mjs' */

/** How many messages a save has, and how many saves are timed together, because one is too short to be timed alone. */
const sizes = /** @type {const} */ ([
  [1, 50],
  [100, 10],
  [1000, 3],
]);
/** The code of both stores is compiled bit by bit, and takes half as long after some hundred saves as after the first. */
const warmUpMs = 5000;

/**
 * Saves of several sizes, in both stores and beside the floor.
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
      ...besides(ours, theirs),
      note: `${note}; why not less: docs/decisions/long-saves.md`,
    });
    const floorName = 'a bare insert and its commit: the floor';
    rows.push({ ...row, peerName: floorName, ...besides(ours, floor), note: `its work: ${costs[2]}` });
  }
  await bare.close();
  await stores.close();
  return rows;
}

/**
 * What it would cost to leave to the server which messages it compresses: it begins with shorter ones than we let it. Of the
 * floor, because there nothing else is done.
 * @param {Options} options
 * @param {Server} server
 * @returns {Promise<Row>}
 */
export async function compressing(options, server) {
  const [count, times] = [100, 10];
  const tables = [await openBareTable(server.url), await openBareTable(server.url, { isLeftToServer: true })];
  const parties = tables.map((table) => partyOf('t', count, ourMessage, (messages) => table.save(messages)));
  const name = `bare insert of ${count} messages (×${times}), those of up to 4 kB as they are`;
  const how = { name, count, times, serverCpu: server.cpuSeconds, logBytes: tables[0]?.logBytes };
  const { figures, costs } = await contest(options, how, parties);
  const [plain = [], compressed = []] = figures;
  for (const table of tables) await table.close();
  const note = `a message, Node + Postgres: ${costs[0]}, left to the server ${costs[1]}`;
  const peer = { peerName: 'the same, left to the server', note: `${note}; why: docs/decisions/uncompressed-messages.md` };
  return { name, events: count * times, ours: spread(plain), ...besides(plain, compressed), ...peer };
}

/**
 * Their times, in turns, and what each costs in work.
 * @param {Options} options
 * @param {{ name: string, count: number, times: number } & Omit<Parameters<typeof costOf>[0], 'items'>} how
 * @param {Array<ReturnType<typeof partyOf>>} parties
 */
async function contest(options, { name, count, times, ...cost }, parties) {
  // One repetition is to see that it works.
  const warm = options.repeats > 1 ? { ...options, warmUpMs } : options;
  const timed = parties.map((party) => () => time(party.prepare(times), 'wall'));
  const figures = await inTurns(warm, name, timed);
  // Of several rounds, because the work of a collection of garbage falls into one of them.
  const how = { ...cost, items: count * times * 4 };
  const costs = [];
  for (const party of parties) costs.push(await costOf(how, party.prepare(times * 4)));
  return { figures, costs };
}

/**
 * What has just been made would be copied twice by the collections that fall into the saves: it is now. Those of what is old are
 * left alone, because they would discard compiled code as well.
 */
function moveToOldSpace() {
  for (let n = 0; n < 2; n++) globalThis.gc?.({ type: 'minor' });
}

/**
 * A new thread in both stores. `prepare` makes messages, whose making is not what is measured, and gives what saves them.
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
    partyOf(threadId, count, ourMessage, (messages) => ours.saveMessages({ messages })),
    partyOf(threadId, count, mastraMessage, (messages) =>
      theirs.saveMessages({ messages: /** @type {never} */ (messages) }),
    ),
    partyOf(threadId, count, ourMessage, (messages) => bare.save(messages)),
  ];
}

/**
 * @template Message
 * @param {string} threadId
 * @param {number} count
 * @param {(threadId: string, id: string, n: number) => Message} make
 * @param {(messages: Message[]) => Promise<unknown>} save
 */
function partyOf(threadId, count, make, save) {
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
