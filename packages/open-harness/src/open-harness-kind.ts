import type { AgentDefinition, AgentDetails, AgentKind } from '@intertie/core';
import { splitDetails } from '@intertie/core/internal';
import { openHarnessProtocol } from './open-harness-protocol.ts';
import {
  openHarnessSource,
  type OpenHarnessSourceOptions,
  type RuntimeOrFactory,
} from './source/open-harness-source.ts';

export type OpenHarnessAgentOptions = AgentDetails & Omit<OpenHarnessSourceOptions, 'name' | 'onFrame'>;

/** Defines an agent that runs an Open Harness flow. A factory creates one runtime per run. */
export function openHarness(runtime: RuntimeOrFactory, options: OpenHarnessAgentOptions = {}): AgentDefinition {
  const { details, settings } = splitDetails(options);
  return {
    ...details,
    kind: openHarnessKind.name,
    dialect: openHarnessProtocol.name,
    createSource: (name, onFrame) => openHarnessSource(runtime, { ...settings, name, ...(onFrame && { onFrame }) }),
  };
}

/** Open Harness flows as agents of a server. */
export const openHarnessKind: AgentKind<[RuntimeOrFactory, OpenHarnessAgentOptions?]> = {
  name: 'open-harness',
  title: 'Open Harness',
  description: 'An Open Harness flow',
  functionName: 'openHarness',
  define: openHarness,
  template: {
    name: 'open-harness',
    variables: [],
    dependencies: (version) => ({ '@intertie/open-harness': `^${version}` }),
    config: `import { createFlowRuntime } from '@intertie/open-harness/demo';
import { defineConfig, openHarness } from 'intertie';

// Replace this with your own flow: openHarness((turn) => createRuntime({ flow, registry, resume: turn.resume }))
export default defineConfig({
  agents: {
    flow: openHarness(() =>
      createFlowRuntime({
        flow: {
          name: 'greeting',
          nodes: [{ id: 'greet', run: async (context) => context.say(\`You said: \${String(context.input.message)}\`) }],
          edges: [],
        },
      }),
    ),
  },
});
`,
    readme: `The agent is a flow with one node, which repeats the message. Replace it in \`intertie.config.ts\` with your own.
`,
  },
  async startDemo({ pace }) {
    const { demoFlow, demoRuntime } = await import('./demo/demo-flow.ts');
    const newsroom = openHarness((turn) => demoRuntime(turn, { pace: 15 * pace }), {
      flow: demoFlow,
      description: 'An Open Harness flow: a plan, two researchers side by side, an editor who asks before publishing.',
      suggestions: ['Heat pumps', 'Night trains'],
    });
    return { agents: { newsroom } };
  },
};
