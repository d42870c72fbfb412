// @ts-check
import { createStore } from '@intertie/postgres';
import { PostgresStore } from '@mastra/pg';

export const peerName = '@mastra/pg 1.27';

/** @param {string} url */
export async function openBoth(url) {
  const ours = await createStore(url);
  const mastra = new PostgresStore({ id: 'bench', connectionString: url });
  await mastra.init();
  const theirs = await mastra.getStore('memory');
  if (!theirs) throw new Error('@mastra/pg returned no memory store.');
  return {
    ours,
    theirs,
    async close() {
      await ours.close();
      await mastra.close();
    },
  };
}
