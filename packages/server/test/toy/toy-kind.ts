import type { AgentDefinition, AgentDetails, AgentKind } from '@intertie/core';
import { splitDetails } from '@intertie/core/internal';
import { toyProtocol } from './toy-protocol.ts';

/** Defines an agent that calls a toy box. */
function toyBox({ url, ...options }: AgentDetails & { url: string }): AgentDefinition {
  return {
    ...splitDetails(options).details,
    kind: toyKind.name,
    dialect: toyProtocol.name,
    createSource: (name) => ({ ...toyProtocol.client!.connect({ url, fetch, headers: {} }), name }),
  };
}

/** Complete runtime in one folder, for the tests of the lists. */
export const toyKind: AgentKind<[AgentDetails & { url: string }]> = {
  name: 'toy',
  title: 'Toy',
  description: 'A box of toys',
  functionName: 'toyBox',
  define: toyBox,
  environment: {
    keys: ['TOY_URL'],
    settings: ['TOY_COLOR'],
    createAgents: async ({ TOY_URL: url }) => (url ? { toys: toyBox({ url }) } : undefined),
    probe: async ({ TOY_URL: url }) => (url ? { isFine: false, found: 'an empty box', next: 'Fill it.' } : undefined),
  },
  template: {
    name: 'toy',
    variables: [{ name: 'TOY_URL', description: 'URL of the toys' }],
    dependencies: (version) => ({ 'toy-box': `^${version}` }),
    config: `import { toys } from 'toy-box';\nexport default toys;\n`,
    readme: 'Play.\n',
  },
  startDemo: async ({ listen }) => {
    const stream = '{"toy":"start"}\n{"toy":"text","text":"Hello"}\n{"toy":"end"}\n';
    const { url, stop } = await listen(async () => new Response(stream, { headers: { 'x-toy': 'box' } }));
    return { agents: { box: toyBox({ url }) }, stop };
  },
};
