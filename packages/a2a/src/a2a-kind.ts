import type { AgentDefinition, AgentDetails, AgentKind } from '@intertie/core';
import { splitDetails } from '@intertie/core/internal';
import { a2aProtocol } from './a2a-protocol.ts';
import { a2aSource, type A2ASourceOptions } from './client/a2a-source.ts';

export type A2AAgentOptions = AgentDetails & Omit<A2ASourceOptions, 'name' | 'onFrame'>;

/** Defines an agent that calls an A2A agent by its URL, or by the URL of its card. */
export function a2aAgent(options: A2AAgentOptions): AgentDefinition {
  const { details, settings } = splitDetails(options);
  return {
    ...details,
    kind: a2aKind.name,
    dialect: a2aProtocol.name,
    createSource: (name, onFrame) => a2aSource({ ...settings, name, ...(onFrame && { onFrame }) }),
  };
}

/** A2A agents as agents of a server. */
export const a2aKind: AgentKind<[A2AAgentOptions]> = {
  name: 'a2a',
  title: 'A2A',
  description: 'An A2A agent',
  functionName: 'a2a',
  define: a2aAgent,
  template: {
    name: 'a2a',
    variables: [{ name: 'AGENT_URL', description: 'URL of the A2A agent, for example http://localhost:9000' }],
    config: `import { a2a, defineConfig, demoModel, model } from 'intertie';

const url = process.env.AGENT_URL;

export default defineConfig({
  // A script answers until AGENT_URL is set. Check your agent with: npx intertie doctor http://localhost:9000
  agents: { remote: url ? a2a({ url }) : model(demoModel()) },
});
`,
    readme: `The answers come from a script. Set \`AGENT_URL\` in \`.env\` to the URL of your A2A agent, and restart.
`,
  },
};
