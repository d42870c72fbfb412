// @ts-check
import { besides, inTurns, spread } from '../measure.mjs';

/** @import { Options, Row } from '../measure.mjs' */
/** @import { Child } from './child.mjs' */
/** @import { Parties } from './parties.mjs' */

/**
 * What more of something costs: messages before the turn, agents in the run, readers of the stream.
 * @param {Options} options
 * @param {Parties} parties
 * @param {Child} client
 * @returns {Promise<Row[]>}
 */
export async function growth(options, { ours, plain }, client) {
  const [server, plainServer] = [await ours.postgres.start(), await plain.start()];
  const scene = {
    client,
    ours: { server, door: ours.postgres.door(server.url) },
    plain: { server: plainServer, door: plain.door(plainServer.url) },
  };
  try {
    return [...(await history(options, scene)), ...(await agents(options, scene)), ...(await readers(options, scene))];
  } finally {
    await plainServer.stop();
    await server.stop();
  }
}

/**
 * @typedef {{ server: Child, door: import('./requests.mjs').Door }} Side
 * @typedef {{ client: Child, ours: Side, plain: Side }} Scene
 */

/** The processor's time that a server takes for something. @param {Child} server @param {() => Promise<unknown>} work */
async function cpuOf(server, work) {
  const before = await server.ask('cpu');
  await work();
  return (await server.ask('cpu')) - before;
}

/**
 * The store has ours, so the client sends the last message alone; to the plain route it has to send them all.
 * @param {Options} options
 * @param {Scene} scene
 */
async function history(options, { client, ours, plain }) {
  const sizes = [10, 100, 1000, 10_000];
  const turnsEach = 3;
  const parties = sizes.flatMap((messages) => {
    let threadId = '';
    let turn = 0;
    // A turn makes its thread longer, which in a short one would be seen.
    const refill = async () => {
      if (turn++ > 0 && messages >= 1000) return;
      threadId = crypto.randomUUID();
      await ours.server.ask('fill', { threadId, messages });
    };
    const question = { words: 20, after: messages };
    return [
      async () => {
        const times = [];
        for (let n = 0; n < turnsEach; n++) {
          await refill();
          times.push(
            ...(await client.ask('firstWords', { turns: [{ door: ours.door, question, place: { threadId } }] })),
          );
        }
        return spread(times).median;
      },
      async () => {
        const turns = Array.from({ length: turnsEach }, () => ({
          door: plain.door,
          question,
          place: { history: messages },
        }));
        return spread(await client.ask('firstWords', { turns })).median;
      },
    ];
  });
  const figures = await inTurns(options, 'the first word after a history', parties);
  return sizes.map((messages, index) =>
    grown(
      {
        name: `first word of a turn after ${messages} messages`,
        group: 'as things grow',
        events: 0,
        peerName: 'plain route, sent all of them',
        ...besides(figures[2 * index] ?? [], figures[2 * index + 1] ?? []),
      },
      { figures: figures[2 * index] ?? [], smallest: figures[0] ?? [], from: `${sizes[0]} messages` },
    ),
  );
}

/**
 * One agent alone stands beside the plain route, whose words come through `streamText`; those of our agents do not.
 * @param {Options} options
 * @param {Scene} scene
 */
async function agents(options, { client, ours, plain }) {
  const sizes = [1, 4, 16, 64];
  const words = 6400;
  const crowd = { ...ours.door, url: ours.door.url.replace('/bench/', '/crowd/') };
  const [alone = [], ...figures] = await inTurns(options, 'agents of a run', [
    () => cpuOf(plain.server, () => client.ask('readAll', { turns: [{ door: plain.door, question: { words } }] })),
    ...sizes.map((count) => () => {
      const question = { words, agents: count };
      return cpuOf(ours.server, () => client.ask('readAll', { turns: [{ door: crowd, question }] }));
    }),
  ]);
  return sizes.map((count, index) =>
    grown(
      {
        name: `CPU of a run of ${words} words by ${plural(count, 'agent')}`,
        group: 'as things grow',
        events: 0,
        ...(index === 0 && { peerName: 'plain route, through streamText', ...besides(figures[0] ?? [], alone) }),
      },
      { figures: figures[index] ?? [], smallest: figures[0] ?? [], from: plural(sizes[0] ?? 1, 'agent') },
    ),
  );
}

/**
 * One reader alone stands beside the plain route, which nobody else can read.
 * @param {Options} options
 * @param {Scene} scene
 */
async function readers(options, { client, ours, plain }) {
  const sizes = [1, 4, 16, 64];
  const words = 300;
  /** The plain route keeps no thread. @param {Side} side @param {number} count */
  const read = async ({ server, door }, count) => {
    const threadId = crypto.randomUUID();
    const place = server === plain.server ? {} : { threadId };
    const question = { words, everyMs: 4, waits: true };
    await client.ask('open', { turns: [{ door, question, place }] });
    const url = `${door.url}/${threadId}/stream`;
    if (count > 1) await client.ask('join', { url, token: door.token, readers: count - 1 });
    return cpuOf(server, async () => {
      await server.ask('goOn');
      await client.ask('finish', { words });
    });
  };
  const [alone = [], ...figures] = await inTurns(options, 'readers of a stream', [
    () => read(plain, 1),
    ...sizes.map((count) => () => read(ours, count)),
  ]);
  return sizes.map((count, index) =>
    grown(
      {
        name: `CPU of a stream of ${words} words to ${plural(count, 'reader')}`,
        group: 'as things grow',
        events: 0,
        ...(index === 0 && { peerName: 'plain route', ...besides(figures[0] ?? [], alone) }),
      },
      { figures: figures[index] ?? [], smallest: figures[0] ?? [], from: plural(sizes[0] ?? 1, 'reader') },
    ),
  );
}

/** @param {number} count @param {string} what */
const plural = (count, what) => `${count} ${what}${count === 1 ? '' : 's'}`;

/**
 * @param {Omit<Row, 'ours'>} row
 * @param {{ figures: number[], smallest: number[], from: string }} growth
 * @returns {Row}
 */
function grown(row, { figures, smallest, from }) {
  const ours = spread(figures);
  if (figures === smallest) return { ...row, ours };
  return {
    ...row,
    ours,
    growth: { from, ratio: spread(figures.map((figure, n) => figure / (smallest[n] ?? figure))) },
  };
}
