import type { AgentDefinition, AgentDetails, AgentKind } from '@intertie/core';
import { defined, splitDetails } from '@intertie/core/internal';
import { mailProtocol } from './mail-protocol.ts';
import { createMAIL } from './model/mail-provider.ts';
import { mailSource, type MAILSourceSettings } from './source/mail-source.ts';

/** Allows explicit `undefined`, which means the environment variable. */
type MAILSettings = Omit<MAILSourceSettings, 'name' | 'onFrame' | 'baseUrl' | 'authToken'> & {
  baseUrl?: string | undefined;
  authToken?: string | undefined;
};

export type MAILAgentOptions = AgentDetails & MAILSettings;

/** Defines an agent that calls a MAIL swarm. Default address: `MAIL_BASE_URL`. */
export function mailSwarm(options: MAILAgentOptions = {}): AgentDefinition {
  const { details, settings } = splitDetails(options);
  const { baseUrl, authToken, ...rest } = settings;
  return {
    ...details,
    kind: mailKind.name,
    dialect: mailProtocol.name,
    createSource: (name, onFrame) => mailSource({ ...rest, ...defined({ baseUrl, authToken, onFrame }), name }),
  };
}

/** Swarms of a MAIL server as agents of a server. */
export const mailKind: AgentKind<[MAILAgentOptions?]> = {
  name: 'mail',
  title: 'MAIL',
  description: 'A MAIL swarm',
  functionName: 'mailSwarm',
  define: mailSwarm,
  environment: {
    keys: ['MAIL_BASE_URL'],
    settings: ['MAIL_API_KEY'],
    async createAgents({ MAIL_BASE_URL: baseUrl, MAIL_API_KEY: authToken }) {
      if (!baseUrl) return undefined;
      const description = `The MAIL swarm at ${new URL(baseUrl).host}.`;
      return { mail: mailSwarm({ baseUrl, authToken, description }) };
    },
    async probe({ MAIL_BASE_URL: baseUrl, MAIL_API_KEY: authToken }) {
      if (!baseUrl) return undefined;
      const { ok, swarm, version, next } = await createMAIL({ baseUrl, ...defined({ authToken }) }).check();
      const found = ok ? `${swarm ?? 'a swarm'} at ${baseUrl}, MAIL ${version ?? '?'}` : `${baseUrl} cannot be used`;
      return { isFine: ok, found, ...defined({ next }) };
    },
  },
  template: {
    name: 'mail',
    variables: ['MAIL_BASE_URL', 'MAIL_API_KEY'],
    config: `import { defineConfig, mailSwarm } from 'intertie';

export default defineConfig({
  // MAIL_BASE_URL and MAIL_API_KEY configure the swarm. Check it with: npx intertie doctor
  agents: { swarm: mailSwarm() },
});
`,
  },
  async startDemo({ pace, listen }) {
    const { createMAILDemo } = await import('./demo/demo-handler.ts');
    const { url, stop } = await listen(createMAILDemo({ paceMs: 400 * pace }).fetch);
    const swarm = mailSwarm({
      baseUrl: url,
      authToken: 'demo',
      description: 'A MAIL swarm over HTTP: a supervisor, a researcher and a writer.',
      suggestions: ['Where does the time go in our build?'],
    });
    return { agents: { swarm }, stop };
  },
};
