import { mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { startMAILDemo } from '@intertie/mail/demo';
import { mailSwarm, serve, type IntertieConfig } from 'intertie';

import { demoSource } from '../../examples/chat-page/dist/demo-source.js';
import { askingSource, waitingSource } from './asking-source.ts';
import { startDemoAgents } from '../../packages/server/dist/demo/demo-agents.js';

export type Product = { url: string; close(): Promise<void> };

/**
 * The server with the console in it, on an embedded database of its own. The agents are the demo's, a swarm that does not take
 * its time at a breakpoint, a team of three, and two that ask in every way there is; all else is what people run.
 */
export async function startProduct({ port = 0, pace = 0.3 }: { port?: number; pace?: number } = {}): Promise<Product> {
  const folder = mkdtempSync(join(tmpdir(), 'intertie-console-'));
  const demo = await startDemoAgents({ pace });
  const swarm = await startMAILDemo({ paceMs: 100 * pace, stallMs: 200 });
  const team = demoSource({ speed: 1.5 / pace });
  const patient = await startDemoAgents({ pace: 1 });
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
      // Takes its time, so that there is time to stop it, cut it off, or look from elsewhere.
      patient: patient.agents.helper!,
      team: { name: 'team', pauses: team.pauses, run: (input, control) => team.run(input, control) },
      asking: askingSource,
      waiting: waitingSource,
    },
  };
  const served = await serve(config, { port });
  return {
    url: served.url,
    close: async () => {
      await served.close();
      await Promise.all([swarm.stop(), demo.stop(), patient.stop()]);
      await rm(folder, { recursive: true, force: true, maxRetries: 10 });
    },
  };
}
