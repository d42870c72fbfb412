import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { startOwnServer, type OwnServer } from '../../packages/postgres/test/own-server.ts';
import { chatBody, postJson, sendMessage } from '../../packages/server/test/client.ts';
import { disturbRuns } from '../../packages/server/test/disturbed-runs.ts';
import { startNode, type Node } from '../../packages/server/test/nodes.ts';

// A short version of packages/server/test/chaos/chaos.soak.ts.
const chats = 6;
const pace = 0.3;

describe('under load', () => {
  let database: OwnServer;
  let nodes: Node[] = [];
  beforeAll(async () => {
    database = await startOwnServer();
    nodes = [await startNode(database.url, pace), await startNode(database.url, pace)];
  });
  afterAll(async () => {
    for (const node of nodes) await node.kill('SIGTERM');
    await database.remove();
  });

  const untilReady = async (isReady: boolean): Promise<void> => {
    for (const { url } of nodes) {
      while ((await fetch(`${url}/ready`)).ok !== isReady) await new Promise((resolve) => setTimeout(resolve, 50));
    }
  };

  it('waits for a restarted database, delivers nothing that is not stored, and continues', async () => {
    const refused: unknown[] = [];
    const disturb = async (): Promise<void> => {
      await database.stop();
      await untilReady(false);
      const answer = await postJson(`${nodes[0]!.url}/api/chat`, chatBody('away', 'hello'));
      refused.push(answer.status, await answer.json());
      await database.start();
      await untilReady(true);
    };
    const ends = await disturbRuns({ nodes, survivor: nodes[1]!, chats, disturb });
    expect(refused).toMatchObject([503, { error: { code: 'database-away' } }]);
    // After an outage longer than the lease, the first node to return may take another for dead.
    expect((ends['complete'] ?? 0) + (ends['error lost'] ?? 0)).toBe(chats);
    expect((await sendMessage(nodes[0]!.url, { thread: 'away', text: 'hello' })).body).toContain('[DONE]');
  });

  it.each([
    // Only the runs of `helper` can continue in another process.
    { agent: 'helper', leastLost: 0, mostLost: 0 },
    { agent: 'forgetful', leastLost: 1, mostLost: chats },
  ])(
    'delivers the stored end of every run of $agent after a node is killed',
    async ({ agent, leastLost, mostLost }) => {
      const victim = await startNode(database.url, pace);
      const disturb = (): Promise<void> => victim.kill('SIGKILL');
      const ends = await disturbRuns({ nodes: [victim, nodes[0]!], survivor: nodes[0]!, chats, agent, disturb });
      const { complete = 0, 'error lost': lost = 0 } = ends;
      expect(complete + lost).toBe(chats);
      expect(lost).toBeGreaterThanOrEqual(leastLost);
      expect(lost).toBeLessThanOrEqual(mostLost);
    },
  );
});
