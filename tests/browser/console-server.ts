import { mkdtempSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { startMAILDemo } from '@intertie/mail/demo';
import { agUi, mailSwarm, serve, type Intertie, type IntertieConfig } from 'intertie';

import { demoSource } from '../../examples/chat-page/dist/demo-source.js';
import { endlessSource } from './endless-source.ts';
import { liveQuestionSource, questionSource } from './question-sources.ts';
import { richSource } from './rich-source.ts';
import { startDemoAgents } from '../../packages/server/dist/demo/start-demo-agents.js';

export type ConsoleServer = { url: string; intertie: Intertie; close(): Promise<void> };

/**
 * Starts the server with the console on an embedded database of its own. Its agents are the demo agents, a swarm with a short
 * breakpoint, a slow agent, a team of three, two agents that ask questions, one whose answer has content of every kind, one whose
 * answer has no end, and one that does not run.
 */
export async function startConsoleServer({
  port = 0,
  pace = 0.3,
}: { port?: number; pace?: number } = {}): Promise<ConsoleServer> {
  const folder = mkdtempSync(join(tmpdir(), 'intertie-console-'));
  const demo = await startDemoAgents({ pace });
  const swarm = await startMAILDemo({ paceMs: 100 * pace, stallMs: 200 });
  const team = demoSource({ speed: 1.5 / pace });
  const slow = await startDemoAgents({ pace: 1 });
  const config: IntertieConfig = {
    database: join(folder, 'database'),
    agents: {
      ...demo.agents,
      swarm: mailSwarm({
        baseUrl: swarm.url,
        authToken: 'demo',
        description: 'A MAIL swarm: a supervisor, a researcher and a writer.',
        suggestions: ['Plan a trip to Bergen, and ask me first'],
      }),
      // Slow enough to stop it, to interrupt its connection, or to open it in another tab.
      slow: slow.agents.helper!,
      team: { name: 'team', pauses: team.pauses, run: (input, control) => team.run(input, control) },
      questions: questionSource,
      'live-question': liveQuestionSource,
      rich: richSource,
      endless: endlessSource,
      unreachable: agUi({ url: `http://127.0.0.1:${await findClosedPort()}/` }),
    },
    prices: { demo: { input: 3, output: 15 } },
  };
  const served = await serve(config, { port });
  return {
    url: served.url,
    intertie: served.intertie,
    close: async () => {
      await served.close();
      await Promise.all([swarm.stop(), demo.stop(), slow.stop()]);
      await rm(folder, { recursive: true, force: true, maxRetries: 10 });
    },
  };
}

/** Returns a port on which nothing listens. */
async function findClosedPort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => void server.close(resolve));
  return port;
}
