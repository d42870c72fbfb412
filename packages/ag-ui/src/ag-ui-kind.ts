import type { AgentDefinition, AgentDetails, AgentKind } from '@intertie/core';
import { createProbeRun, probeAddress, splitDetails, type Probe } from '@intertie/core/internal';
import { agUi } from './ag-ui-protocol.ts';
import { fetchAgent } from './wire/http-events.ts';
import { agUiSource, toEndpoint, type AGUISourceOptions, type InProcessAgentOptions } from './client/ag-ui-source.ts';

export type AGUIAgentOptions = AgentDetails &
  (Omit<AGUISourceOptions, 'name' | 'onFrame'> | Omit<InProcessAgentOptions, 'name' | 'onFrame'>);

/** Defines an agent that calls an AG-UI agent by its URL (`https:` or `wss:`), or runs one of `@ag-ui/client` in this process. */
export function agUiAgent(options: AGUIAgentOptions): AgentDefinition {
  const { details, settings } = splitDetails(options);
  // The cast is needed because `Omit` does not distribute over the two kinds of options.
  const endpoint = settings as Partial<AGUISourceOptions>;
  return {
    ...(isHTTP(endpoint) && { probe: (signal: AbortSignal) => probeAgent(endpoint, signal) }),
    ...details,
    kind: agUiKind.name,
    dialect: agUi.name,
    createSource: (name, onFrame) =>
      agUiSource({ ...settings, name, ...(onFrame && { onFrame }) } as AGUISourceOptions),
  };
}

function isHTTP(endpoint: Partial<AGUISourceOptions>): endpoint is AGUISourceOptions {
  return endpoint.url !== undefined && !/^wss?:/.test(endpoint.url);
}

/** Sends an empty request: every valid request would start a run. */
function probeAgent(options: AGUISourceOptions, signal: AbortSignal): Promise<Probe> {
  const endpoint = toEndpoint(options, createProbeRun());
  const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}', signal };
  return probeAddress(endpoint.url, () => fetchAgent(endpoint, init), [404, 405]);
}

/** AG-UI agents as agents of a server. */
export const agUiKind: AgentKind<[AGUIAgentOptions]> = {
  name: 'ag-ui',
  title: 'AG-UI',
  description: 'An AG-UI agent',
  functionName: 'agUi',
  define: agUiAgent,
  template: {
    name: 'ag-ui',
    variables: [{ name: 'AGENT_URL', description: 'URL of the AG-UI agent, for example http://localhost:8000/ag-ui' }],
    config: `import { agUi, defineConfig, demoModel, model } from 'intertie';

const url = process.env.AGENT_URL;

export default defineConfig({
  // A script answers until AGENT_URL is set. Check your agent with: npx intertie doctor http://localhost:8000/ag-ui
  agents: { remote: url ? agUi({ url }) : model(demoModel()) },
});
`,
    readme: `The answers come from a script. Set \`AGENT_URL\` in \`.env\` to the URL of your AG-UI agent, and restart.
`,
  },
  async startDemo({ createSource, listen }) {
    const { createAGUIHandler } = await import('./server/create-ag-ui-handler.ts');
    const { url, stop } = await listen(createAGUIHandler(createSource('helper')));
    const remote = agUiAgent({
      url,
      description: 'The helper again, as an AG-UI agent that is reached over HTTP.',
      suggestions: ['What is the weather in Oslo?'],
    });
    return { agents: { remote }, stop };
  },
};
