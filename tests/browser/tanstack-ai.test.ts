import { clientAgent } from './client-agent.ts';
import { testClient } from './client-suite.ts';

testClient({
  name: 'TanStack AI',
  folder: 'clients',
  doc: 'docs/clients/tanstack-ai.md',
  title: 'page.tsx',
  // The client stops by disconnecting. A reloaded page joins the run before this time.
  agent: { ...clientAgent, stopOnDisconnect: { afterMs: 3_000 } },
  joins: true,
  stops: true,
  keepsApprovals: false,
  showsErrors: true,
});
