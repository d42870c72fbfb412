import { createInMemoryStore } from '@intertie/core';
import { startMAILDemo } from '@intertie/mail/demo';
import { a2a, mailSwarm, serve } from 'intertie';

// The first server runs a MAIL swarm.
const swarm = await startMAILDemo({ paceMs: 50 });
const team = await serve(
  { agents: { swarm: mailSwarm({ baseUrl: swarm.url, authToken: 'demo' }) }, database: createInMemoryStore() },
  { port: 0 },
);

// The second server knows only the address of the first one.
const front = await serve(
  { agents: { team: a2a({ url: `${team.url}/api/agents/swarm/a2a` }) }, database: createInMemoryStore() },
  { port: Number(process.env.PORT ?? 8000) },
);
console.log(`${front.url}/api/agents/team/a2a`);

process.once('SIGTERM', () => {
  void Promise.all([front.close(), team.close(), swarm.stop()]);
});
