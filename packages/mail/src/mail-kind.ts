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
    variables: [
      { name: 'MAIL_BASE_URL', description: 'URL of the MAIL server, for example http://localhost:8000' },
      { name: 'MAIL_API_KEY', description: 'Its token' },
    ],
    dependencies: (version) => ({ '@intertie/mail': `^${version}` }),
    config: `import { createMAILDemo } from '@intertie/mail/demo';
import { defineConfig, mailSwarm } from 'intertie';

// A scripted swarm in this process, until MAIL_BASE_URL is set.
const demo = createMAILDemo({ paceMs: 100 });
const demoSettings = {
  baseUrl: 'http://demo',
  authToken: 'demo',
  fetch: (url: string | URL | Request, init?: RequestInit) => demo.fetch(new Request(url, init)),
};

export default defineConfig({
  // Check your server with: npm run doctor
  agents: { swarm: mailSwarm(process.env.MAIL_BASE_URL ? {} : demoSettings) },
});
`,
    readme: `Try in the page: "Where does the time go in our build?"

The answers come from a scripted swarm. For your own, set \`MAIL_BASE_URL\` and \`MAIL_API_KEY\` in \`.env\`, and restart.
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
