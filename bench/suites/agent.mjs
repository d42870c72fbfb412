// @ts-check
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { Agent } from '@intertie/agent';
import { createInMemoryStore, generateId } from '@intertie/core';
import { createStore } from '@intertie/postgres';
import { streamText } from 'ai';

import { measure } from '../measure.mjs';
import { createTextModel } from '../create-text-model.mjs';
import { startServer } from '../postgres/server.mjs';

/** @import { Row } from '../measure.mjs' */
/** @import { Store } from '@intertie/core' */

/** @param {Response} response @returns {Promise<number>} */
async function drain(response) {
  const reader = /** @type {ReadableStream<Uint8Array>} */ (response.body).getReader();
  let bytes = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return bytes;
    bytes += value.byteLength;
  }
}

const peerName = 'streamText().toUIMessageStreamResponse()';
const note = 'ours is durable before it is sent, and can be resumed; small pieces of one text are joined in the log';

/** @type {import('../measure.mjs').Suite} */
const suite = {
  title: 'agent: a stream that is kept, against one that is not',
  async run(options) {
    /** @type {Row[]} */
    const rows = [];
    const server = await startServer();
    const folder = mkdtempSync(join(tmpdir(), 'intertie-bench-agent-'));
    /** @type {Array<[string, Store]>} */
    const stores = [
      ['in memory', createInMemoryStore()],
      ['in PGlite', await createStore(folder)],
      ['in Postgres', await createStore(server.url)],
    ];
    for (const [where, store] of stores) {
      for (const [count, deltas] of /** @type {const} */ ([
        [1, 20_000],
        [20, 1_000],
      ])) {
        const model = createTextModel(deltas);
        const agent = new Agent({ model, store });
        const ours = async () =>
          drain(await agent.stream({ threadId: generateId(), message: 'go' }).toUIMessageStreamResponse());
        const peer = () => drain(streamText({ model, prompt: 'go' }).toUIMessageStreamResponse());
        const each = (/** @type {() => Promise<number>} */ work) => () =>
          Promise.all(Array.from({ length: count }, () => work()));
        // Many concurrent runs take the peer so long that only three rounds are measured.
        const repeats = Math.min(options.repeats, count === 1 ? 5 : 3);
        rows.push(
          await measure(
            { ...options, repeats },
            {
              name: `${count === 1 ? 'a run' : `${count} runs at once`} of ${deltas / 1000}k deltas, kept ${where}`,
              events: count * deltas,
              peerName,
              note,
              ours: each(ours),
              peer: each(peer),
            },
          ),
        );
        await agent.close();
      }
      await store.close();
    }
    await server.stop();
    rmSync(folder, { recursive: true, force: true });
    return rows;
  },
};

export default suite;
