import { basename } from 'node:path';
import { version } from '../config/version.ts';

export type Template = 'agent' | 'mail' | 'open-harness' | 'ag-ui';
export const templates: readonly Template[] = ['agent', 'mail', 'open-harness', 'ag-ui'];

const configs: { readonly [template in Template]: string } = {
  agent: `import { anthropic } from '@ai-sdk/anthropic';
import { tool } from 'ai';
import { defineConfig, model } from 'intertie';
import { z } from 'zod';

export default defineConfig({
  agents: {
    helper: model(anthropic('claude-sonnet-4-5'), {
      instructions: 'Be brief.',
      tools: {
        time: tool({
          description: 'The time now.',
          inputSchema: z.object({ zone: z.string() }),
          execute: async ({ zone }) => new Date().toLocaleTimeString('en', { timeZone: zone }),
        }),
      },
    }),
  },
});
`,
  mail: `import { defineConfig, mailSwarm } from 'intertie';

export default defineConfig({
  // MAIL_BASE_URL and MAIL_API_KEY configure the swarm. Check it with: npx intertie doctor
  agents: { swarm: mailSwarm() },
});
`,
  'open-harness': `import { createFlowRuntime } from '@intertie/open-harness/demo';
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
  'ag-ui': `import { agUi, defineConfig } from 'intertie';

export default defineConfig({
  // Check the agent with: npx intertie doctor http://localhost:8000/ag-ui
  agents: { remote: agUi({ url: process.env.AGENT_URL ?? 'http://localhost:8000/ag-ui' }) },
});
`,
};

const needs: { readonly [template in Template]: { [name: string]: string } } = {
  agent: { '@ai-sdk/anthropic': '^3.0.137', ai: '^6.0.326', zod: '^4.6.7' },
  mail: {},
  'open-harness': { '@intertie/open-harness': `^${version}` },
  'ag-ui': {},
};

const settings: { readonly [template in Template]: readonly string[] } = {
  agent: ['ANTHROPIC_API_KEY'],
  mail: ['MAIL_BASE_URL', 'MAIL_API_KEY'],
  'open-harness': [],
  'ag-ui': ['AGENT_URL'],
};

/** Creates the files of a new project, by name. */
export function projectFiles(template: Template, folder: string): { [name: string]: string } {
  const name =
    basename(folder)
      .toLowerCase()
      .replace(/[^a-z0-9-]+/g, '-')
      .replace(/^-+|-+$/g, '') || 'intertie-app';
  return {
    'intertie.config.ts': configs[template],
    'package.json': `${JSON.stringify(
      {
        name,
        private: true,
        type: 'module',
        scripts: { start: 'intertie serve', doctor: 'intertie doctor' },
        dependencies: { intertie: `^${version}`, ...needs[template] },
        engines: { node: '>=20.19' },
      },
      null,
      2,
    )}\n`,
    Dockerfile: dockerfile,
    '.dockerignore': 'node_modules\n.intertie\n.env\n',
    '.gitignore': 'node_modules\n.intertie\n.env\n',
    'compose.yaml': compose(settings[template]),
  };
}

const dockerfile = `FROM node:22-slim
WORKDIR /app
COPY package.json package-lock.json* ./
RUN npm install --omit=dev && npm cache clean --force
COPY . .
# Without DATABASE_URL, data is stored in .intertie in this folder.
RUN chown node .
USER node
EXPOSE 4111
# Listens on all addresses, so INTERTIE_TOKEN is required. Not started with npx, which does not forward signals.
CMD ["node_modules/.bin/intertie", "serve", "--host", "0.0.0.0", "--log", "json"]
HEALTHCHECK CMD ["node", "-e", "fetch('http://127.0.0.1:4111/health').then((r) => process.exit(r.ok ? 0 : 1))"]
`;

function compose(names: readonly string[]): string {
  const environment = names.map((name) => `      ${name}: \${${name}:-}\n`).join('');
  return `services:
  intertie:
    build: .
    ports: ['4111:4111']
    environment:
      INTERTIE_TOKEN: \${INTERTIE_TOKEN:?set it, for example to the output of openssl rand -hex 24}
      DATABASE_URL: postgres://intertie:intertie@database/intertie
${environment}    stop_grace_period: 30s
    depends_on:
      database: { condition: service_healthy }
  database:
    image: postgres:18
    environment: { POSTGRES_USER: intertie, POSTGRES_PASSWORD: intertie, POSTGRES_DB: intertie }
    volumes: ['database:/var/lib/postgresql']
    healthcheck: { test: ['CMD', 'pg_isready', '-U', 'intertie'], interval: 2s, retries: 30 }
volumes:
  database:
`;
}
