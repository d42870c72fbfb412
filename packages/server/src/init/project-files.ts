import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { AgentTemplate } from '@intertie/core';
import { omit } from '@intertie/core/internal';
import { filesIn } from './files-in.ts';
import { version } from '../config/version.ts';

/** Files that are the same for every template, except for the name of the project. */
const shared = fileURLToPath(new URL('../../project', import.meta.url));
const sampleName = 'my-chat';

/** Creates the files of a new project, by name. */
export function projectFiles(template: AgentTemplate, folder: string): { [name: string]: string } {
  const name =
    basename(folder)
      .toLowerCase()
      .replace(/[^a-z0-9-]+/g, '-')
      .replace(/^-+|-+$/g, '') || 'intertie-app';
  const files = Object.fromEntries(
    filesIn(shared).map((file) => [file, readFileSync(join(shared, file), 'utf8').replaceAll(sampleName, name)]),
  );
  return {
    ...files,
    'README.md': `${files['README.md']}\n${template.readme}`,
    'intertie.config.ts': template.config,
    'package.json': `${JSON.stringify(manifest(name, template), null, 2)}\n`,
    '.env.example': environmentFile(template.variables),
    '.dockerignore': ignored,
    '.gitignore': ignored,
    'compose.yaml': compose(template.variables.map((variable) => variable.name)),
  };
}

const ignored = 'node_modules\n.intertie\n.env\ndist\n';

function manifest(name: string, template: AgentTemplate): object {
  const ours = `^${version}`;
  const dependencies = { intertie: ours, ...template.dependencies?.(version) };
  return {
    name,
    private: true,
    type: 'module',
    scripts: {
      start: 'intertie serve',
      page: 'vite',
      build: 'vite build',
      preview: 'vite preview',
      test: 'vitest run',
      types: 'tsc',
      doctor: 'intertie doctor',
    },
    dependencies,
    // The page is bundled, so the image of the server needs none of these.
    devDependencies: omit(
      {
        '@ai-sdk/react': '^3.0.323',
        '@intertie/ai-sdk': ours,
        '@intertie/core': ours,
        '@types/node': '^22.0.0',
        '@types/react': '^19.3.0',
        '@types/react-dom': '^19.3.0',
        '@vitejs/plugin-react': '^6.3.0',
        ai: '^6.0.326',
        react: '^19.3.1',
        'react-dom': '^19.3.1',
        typescript: '^7.0.2',
        vite: '^8.3.5',
        vitest: '^4.1.12',
      },
      ...(Object.keys(dependencies) as never[]),
    ),
    engines: { node: '>=20.19' },
  };
}

function environmentFile(variables: AgentTemplate['variables']): string {
  const own = variables.map(({ name, description }) => `# ${description}\n# ${name}=\n`);
  return `# Copy this file to .env. Variables of the process have precedence.

${own.join('\n')}${own.length > 0 ? '\n' : ''}# A Postgres server instead of the embedded database in .intertie
# DATABASE_URL=postgres://user@localhost/database

# Required if other machines can reach the server
# INTERTIE_TOKEN=
`;
}

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
