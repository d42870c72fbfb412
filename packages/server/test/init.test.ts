import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { agentKinds } from '../src/agent-kinds.ts';
import { projectFiles } from '../src/init/project-files.ts';
import { version } from '../src/config/version.ts';

type Compose = {
  services: {
    intertie: {
      build: string;
      ports: string[];
      environment: { [name: string]: string };
      depends_on: { database: { condition: string } };
      stop_grace_period: string;
    };
    database: {
      image: string;
      environment: { [name: string]: string };
      volumes: string[];
      healthcheck: { test: string[] };
    };
  };
  volumes: { [name: string]: null };
};

const templates = agentKinds.flatMap(({ template }) => (template ? [[template.name, template] as const] : []));

/** Environment variables of each template, without the token. */
const settings: { [template: string]: string[] } = {
  agent: ['AI_GATEWAY_API_KEY'],
  mail: ['MAIL_BASE_URL', 'MAIL_API_KEY'],
  'open-harness': [],
  'ag-ui': ['AGENT_URL'],
  a2a: ['AGENT_URL'],
};

test.each(templates)('configures image and database in the compose file of %s', (templateName, template) => {
  const files = projectFiles(template, 'projects/My chat!');
  const { services, volumes } = parse(files['compose.yaml']!, { strict: true }) as Compose;
  const { intertie, database } = services;
  const port = /^EXPOSE (\d+)$/m.exec(files['Dockerfile']!)![1]!;
  expect(files['Dockerfile']).toContain(`http://127.0.0.1:${port}/health`);
  expect(intertie).toMatchObject({ build: '.', ports: [`${port}:${port}`] });
  const { DATABASE_URL, INTERTIE_TOKEN, ...others } = intertie.environment;
  expect(INTERTIE_TOKEN).toMatch(/^\$\{INTERTIE_TOKEN:\?.+\}$/);
  expect(others).toEqual(Object.fromEntries(settings[templateName]!.map((name) => [name, `\${${name}:-}`])));
  const { POSTGRES_USER: user, POSTGRES_PASSWORD: password, POSTGRES_DB: name } = database.environment;
  expect(DATABASE_URL).toBe(`postgres://${user}:${password}@database/${name}`);
  expect(intertie.depends_on.database.condition).toBe('service_healthy');
  expect(database.healthcheck.test).toContain(user);
  expect(database.volumes.map((volume) => volume.split(':')[0])).toEqual(Object.keys(volumes));
  // Longer than the default drain time of the server.
  expect(Number.parseInt(intertie.stop_grace_period)).toBeGreaterThan(10);
});

test.each(templates)(
  'names the project in the page and every variable in .env.example of %s',
  (templateName, template) => {
    const files = projectFiles(template, 'projects/Our shop');
    expect(Object.keys(files)).toEqual(
      expect.arrayContaining(['page/chat-page.tsx', 'test/agent.test.ts', 'tsconfig.json']),
    );
    expect(Object.values(files).filter((text) => text.includes('my-chat'))).toEqual([]);
    expect(files['page/index.html']).toContain('<title>our-shop</title>');
    const variables = [...files['.env.example']!.matchAll(/^# ([A-Z_]+)=/gm)].map(([, name]) => name);
    expect(variables).toEqual([...settings[templateName]!, 'DATABASE_URL', 'INTERTIE_TOKEN']);
  },
);

test('requires its own version in new projects', () => {
  const { dependencies, devDependencies } = JSON.parse(projectFiles(templates[0]![1], 'chat')['package.json']!) as {
    [list: string]: { [name: string]: string };
  };
  expect(dependencies).toMatchObject({ intertie: `^${version}` });
  expect(devDependencies).toMatchObject({ '@intertie/ai-sdk': `^${version}` });
});

test.each(templates)('lists the imports of the configuration in the package.json of %s', (_, template) => {
  const files = projectFiles(template, 'projects/My chat!');
  const { dependencies, name } = JSON.parse(files['package.json']!) as {
    dependencies: { [name: string]: string };
    name: string;
  };
  expect(name).toBe('my-chat');
  const imported = [...files['intertie.config.ts']!.matchAll(/ from '((?:@[^/']+\/)?[^/']+)/g)].map(
    ([, from]) => from!,
  );
  expect(new Set(imported)).toEqual(new Set(Object.keys(dependencies)));
});

test.each(templates)(
  'uses the defaults of %s for variables that the compose file sets to an empty text',
  (_, { config }) => {
    expect(config).not.toMatch(/process\.env\.\w+ \?\?/);
  },
);
