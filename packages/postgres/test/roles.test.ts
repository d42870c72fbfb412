import { readFileSync } from 'node:fs';
import type { MessageInput } from '@intertie/core/store';
import pg from 'pg';
import { expect, it, onTestFinished } from 'vitest';

import { createStore } from '../src/create-store.ts';
import { newPostgresUrl } from './databases.ts';

const page = readFileSync(new URL('../../../docs/production.md', import.meta.url), 'utf8');

/** Returns an SQL block of the page, with names that are free on the shared server. */
function readSql(title: string, names: { [name: string]: string }): string {
  const block = new RegExp(String.raw`^\`\`\`sql title=${title}\n(.*?)^\`\`\`$`, 'ms').exec(page)?.[1];
  if (block === undefined) throw new Error(`docs/production.md has no block ${title}.`);
  return block.replaceAll(/\b(intertie_owner|intertie_app|app)\b/g, (name) => names[name]!);
}

async function execute(url: string, sql: string): Promise<void> {
  const client = new pg.Client(url);
  await client.connect();
  await client.query(sql).finally(() => client.end());
}

it('runs with the privileges that the production page grants', { timeout: 60_000 }, async () => {
  const url = await newPostgresUrl();
  const app = new URL(url).pathname.slice(1);
  const names = { intertie_owner: `owner_${app}`, intertie_app: `app_${app}`, app };
  const as = (username: string): string => Object.assign(new URL(url), { username, password: 'secret' }).href;
  await execute(url, `drop schema intertie cascade; ${readSql('roles', names)}`);
  const migrated = await createStore(as(names.intertie_owner));
  await migrated.close();
  await execute(as(names.intertie_owner), readSql('grants', names));

  const store = await createStore(as(names.intertie_app));
  onTestFinished(() => store.close());
  const content = { format: 2 as const, parts: [{ type: 'text' as const, text: 'Hello' }] };
  const message: MessageInput = {
    id: 'm1',
    threadId: 't1',
    role: 'user',
    type: 'text',
    createdAt: new Date(),
    content,
  };
  await store.saveMessages({ messages: [message] });
  await store.registry.heartbeat('p1');
  const request = { threadId: 't1', runId: 'r1', messageId: 'm2', agent: 'helper', process: 'p1' } as const;
  await store.registry.start(store.scope, { ...request, busy: 'reject', pending: 'reject' });
  expect((await store.listMessages({ threadId: 't1' })).map(({ id }) => id)).toEqual(['m1', 'm2']);
  await store.purgeAll();
  expect(await store.listMessages({ threadId: 't1' })).toEqual([]);
  await expect(execute(as(names.intertie_app), 'drop table intertie.runs')).rejects.toThrow('must be owner');
});
