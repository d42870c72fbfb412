import { compose, seal, sourceStream, type AgentDefinition, type AgentDetails, type AgentKind } from '@intertie/core';
import { splitDetails } from '@intertie/core/internal';
import { createSampleNameDecoder } from './decode-sample-name.ts';
import { sampleNameProtocol } from './sample-name-protocol.ts';

export type SampleNameAgentOptions = AgentDetails & { url: string };

/** Defines an agent that calls a Sample Name server. */
export function sampleName(options: SampleNameAgentOptions): AgentDefinition {
  const { details, settings } = splitDetails(options);
  return {
    ...details,
    kind: sampleNameKind.name,
    dialect: sampleNameProtocol.name,
    createSource: (name, onFrame) => ({
      name,
      pauses: 'replay',
      run: (run, { signal }) =>
        sourceStream(
          () => readItems(settings.url, signal),
          compose(
            createSampleNameDecoder(run),
            seal(run, () => undefined),
          ),
          { signal, ...(onFrame && { onFrame }) },
        ),
    }),
  };
}

/** Reads JSON lines. A real client sends the messages of the run, streams the response and limits its size. */
async function* readItems(url: string, signal: AbortSignal): AsyncGenerator {
  const response = await fetch(url, { method: 'POST', signal });
  for (const line of (await response.text()).trim().split('\n')) yield JSON.parse(line);
}

/** Sample Name agents as agents of a server. */
export const sampleNameKind: AgentKind<[SampleNameAgentOptions]> = {
  name: 'sample-name',
  title: 'Sample Name',
  description: 'A Sample Name agent',
  functionName: 'sampleName',
  define: sampleName,
  environment: {
    keys: ['SAMPLE_NAME_URL'],
    createAgents: async ({ SAMPLE_NAME_URL: url }) => (url ? { 'sample-name': sampleName({ url }) } : undefined),
  },
  template: {
    name: 'sample-name',
    variables: [{ name: 'SAMPLE_NAME_URL', description: 'URL of the Sample Name server' }],
    config: `import { defineConfig, demoModel, model, sampleName } from 'intertie';

const url = process.env.SAMPLE_NAME_URL;

export default defineConfig({
  // A script answers until SAMPLE_NAME_URL is set.
  agents: { helper: url ? sampleName({ url }) : model(demoModel()) },
});
`,
    readme: `The answers come from a script. Set \`SAMPLE_NAME_URL\` in \`.env\` to the URL of your server, and restart.
`,
  },
};
