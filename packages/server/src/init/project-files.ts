import { basename } from 'node:path';
import type { AgentTemplate } from '@intertie/core';
import { version } from '../config/version.ts';

/** Creates the files of a new project, by name. */
export function projectFiles(template: AgentTemplate, folder: string): { [name: string]: string } {
  const name =
    basename(folder)
      .toLowerCase()
      .replace(/[^a-z0-9-]+/g, '-')
      .replace(/^-+|-+$/g, '') || 'intertie-app';
  return {
    'intertie.config.ts': template.config,
    'package.json': `${JSON.stringify(
      {
        name,
        private: true,
        type: 'module',
        scripts: { start: 'intertie serve', doctor: 'intertie doctor' },
        dependencies: { intertie: `^${version}`, ...template.dependencies?.(version) },
        engines: { node: '>=20.19' },
      },
      null,
      2,
    )}\n`,
    Dockerfile: dockerfile,
    '.dockerignore': 'node_modules\n.intertie\n.env\n',
    '.gitignore': 'node_modules\n.intertie\n.env\n',
    'compose.yaml': compose(template.variables),
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
