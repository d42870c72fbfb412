// @ts-check
import { compareRounds, measureAlternately, spread } from '../measure.mjs';

/** @import { Options, Row } from '../measure.mjs' */
/** @import { Child } from './child.mjs' */
/** @import { Parties } from './parties.mjs' */

/**
 * Measures how the cost grows with the number of earlier messages, agents in the run, and readers of the stream.
 * @param {Options} options
 * @param {Parties} parties
 * @param {Child} client
 * @returns {Promise<Row[]>}
 */
export async function growth(options, { ours, plain }, client) {
  const [server, wholeServer, plainServer] = [
    await ours.postgres.start(),
    await ours.wholeHistory.start(),
    await plain.start(),
  ];
  const scene = {
    client,
    ours: { server, endpoint: ours.postgres.endpoint(server.url) },
    whole: { server: wholeServer, endpoint: ours.wholeHistory.endpoint(wholeServer.url) },
    plain: { server: plainServer, endpoint: plain.endpoint(plainServer.url) },
  };
  try {
    return [...(await history(options, scene)), ...(await agents(options, scene)), ...(await readers(options, scene))];
  } finally {
    for (const started of [plainServer, wholeServer, server]) await started.stop();
  }
}

/**
 * @typedef {{ server: Child, endpoint: import('./requests.mjs').Endpoint }} Side
 * @typedef {{ client: Child, ours: Side, whole: Side, plain: Side }} Scene
 */

/** Measures the CPU time of a server during some work. @param {Child} server @param {() => Promise<unknown>} work */
async function measureCpu(server, work) {
  const before = await server.ask('cpu');
  await work();
  return (await server.ask('cpu')) - before;
}

/**
 * Our client sends only the last message, because the store has the others; the plain route needs all of them. With the default limit
 * the model gets the newest 200 messages.
 * @param {Options} options
 * @param {Scene} scene
 */
async function history(options, { client, ours, whole, plain }) {
  const sizes = [10, 100, 1000, 10_000];
  const turnsEach = 3;
  /** @param {Side} side @param {number} messages @param {object} question */
  const measureStored = ({ server, endpoint }, messages, question) => {
    let threadId = '';
    let turn = 0;
    // Each request makes its thread longer, which would affect a short one.
    const refill = async () => {
      if (turn++ > 0 && messages >= 1000) return;
      threadId = crypto.randomUUID();
      await server.ask('fill', { threadId, messages });
    };
    return async () => {
      const times = [];
      for (let n = 0; n < turnsEach; n++) {
        await refill();
        const turns = [{ endpoint, question, place: { threadId } }];
        times.push(...(await client.ask('measureFirstDeltas', { turns })));
      }
      return spread(times).median;
    };
  };
  const parties = sizes.flatMap((messages) => {
    const question = { words: 20, after: messages };
    const place = { history: messages };
    const turns = Array.from({ length: turnsEach }, () => ({ endpoint: plain.endpoint, question, place }));
    return [
      measureStored(whole, messages, question),
      async () => spread(await client.ask('measureFirstDeltas', { turns })).median,
    ];
  });
  const longest = sizes.at(-1) ?? 0;
  const figures = await measureAlternately(options, 'the first word after a history', [
    ...parties,
    // On the same server, so that both are equally warm.
    measureStored(ours, sizes[0] ?? 10, { words: 20 }),
    measureStored(ours, longest, { words: 20 }),
  ]);
  const smallest = figures[0] ?? [];
  const from = `${sizes[0]} messages`;
  const rows = sizes.map((messages, index) => {
    const row = {
      name: `first word of a turn after ${messages} messages, all sent`,
      group: 'as things grow',
      events: 0,
      peerName: 'plain route, sent all of them',
      ...compareRounds(figures[2 * index] ?? [], figures[2 * index + 1] ?? []),
    };
    return grown(row, { figures: figures[2 * index] ?? [], smallest, from });
  });
  const name = `first word of a turn after ${longest} messages, with the default limit`;
  const limited = { figures: figures.at(-1) ?? [], smallest: figures.at(-2) ?? [], from };
  return [...rows, grown({ name, group: 'as things grow', events: 0 }, limited)];
}

/**
 * One agent is compared with the plain route, whose words come through `streamText`; those of our agents do not.
 * @param {Options} options
 * @param {Scene} scene
 */
async function agents(options, { client, ours, plain }) {
  const sizes = [1, 4, 16, 64];
  const words = 6400;
  const crowd = { ...ours.endpoint, url: ours.endpoint.url.replace('/bench/', '/crowd/') };
  const [alone = [], ...figures] = await measureAlternately(options, 'agents of a run', [
    () =>
      measureCpu(plain.server, () =>
        client.ask('readAll', { turns: [{ endpoint: plain.endpoint, question: { words } }] }),
      ),
    ...sizes.map((count) => () => {
      const question = { words, agents: count };
      return measureCpu(ours.server, () => client.ask('readAll', { turns: [{ endpoint: crowd, question }] }));
    }),
  ]);
  return sizes.map((count, index) =>
    grown(
      {
        name: `CPU of a run of ${words} words by ${plural(count, 'agent')}`,
        group: 'as things grow',
        events: 0,
        ...(index === 0 && { peerName: 'plain route, through streamText', ...compareRounds(figures[0] ?? [], alone) }),
      },
      { figures: figures[index] ?? [], smallest: figures[0] ?? [], from: plural(sizes[0] ?? 1, 'agent') },
    ),
  );
}

/**
 * One reader is compared with the plain route, which supports no other readers.
 * @param {Options} options
 * @param {Scene} scene
 */
async function readers(options, { client, ours, plain }) {
  const sizes = [1, 4, 16, 64];
  const words = 300;
  /** The plain route stores no thread. @param {Side} side @param {number} count */
  const read = async ({ server, endpoint }, count) => {
    const threadId = crypto.randomUUID();
    const place = server === plain.server ? {} : { threadId };
    const question = { words, everyMs: 4, waits: true };
    await client.ask('open', { turns: [{ endpoint, question, place }] });
    const url = `${endpoint.url}/${threadId}/stream`;
    if (count > 1) await client.ask('join', { url, token: endpoint.token, readers: count - 1 });
    return measureCpu(server, async () => {
      await server.ask('resumeResponses');
      await client.ask('finish', { words });
    });
  };
  const [alone = [], ...figures] = await measureAlternately(options, 'readers of a stream', [
    () => read(plain, 1),
    ...sizes.map((count) => () => read(ours, count)),
  ]);
  return sizes.map((count, index) =>
    grown(
      {
        name: `CPU of a stream of ${words} words to ${plural(count, 'reader')}`,
        group: 'as things grow',
        events: 0,
        ...(index === 0 && { peerName: 'plain route', ...compareRounds(figures[0] ?? [], alone) }),
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
