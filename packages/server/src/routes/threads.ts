import { sumUsage } from '@intertie/agent';
import type { Store, Thread } from '@intertie/core';
import { z } from 'zod';
import { toLiveInfo, toRunInfo, toThreadInfo } from './api.ts';
import type { Host } from '../host/host.ts';
import { defined } from '@intertie/core/internal';
import { readJson, readQuery } from '../http/read-json.ts';
import { IntertieError } from '../errors/intertie-error.ts';
import { readIdParam, getStore, type App } from './context.ts';
import { exportThread } from './export-thread.ts';
import { listBranch, listMessageFormats, storedFormat } from './list-branch.ts';
import { streamThreadEvents } from './thread-events.ts';

const threadsQuery = z.object({
  search: z.string().max(500).optional(),
  limit: z.coerce.number().int().min(1).max(200).optional(),
  cursor: z.string().max(1000).optional(),
  resourceId: z.string().max(256).optional(),
  paused: z
    .literal('true')
    .transform(() => true as const)
    .optional(),
});

const threadPatch = z.strictObject({
  title: z.string().max(1000).optional(),
  headId: z.string().optional(),
  metadata: z.record(z.string(), z.json()).optional(),
});

/** Body schema for the OpenAPI document. */
export const threadBody: z.ZodType = threadPatch;

const pageQuery = z.object({
  leaf: z.string().optional(),
  before: z.string().optional(),
  after: z.string().optional(),
  limit: z.coerce.number().int().min(1).max(1000).optional(),
});

const sinceQuery = z.object({ since: z.coerce.number().int().min(0).optional() });

async function requireThread(store: Store, threadId: string): Promise<Thread> {
  const thread = await store.getThreadById({ threadId });
  if (!thread) throw new IntertieError('no-thread');
  return thread;
}

/** Adds the routes for threads, messages and branches. */
export function addThreadRoutes(app: App, host: Host): void {
  const messagesQuery = pageQuery
    .extend({ format: z.enum(listMessageFormats(host.protocols)).default(storedFormat) })
    .refine(({ before, after }) => before === undefined || after === undefined, 'give before or after, not both');

  app.get('/api/threads', async (c) => {
    const query = defined({ limit: 50, ...readQuery(c.req.raw, threadsQuery) });
    const { threads, cursor } = await getStore(host, c).listThreads(query);
    return c.json({
      threads: threads.map(toThreadInfo),
      ...(cursor !== undefined && { cursor }),
    });
  });

  app.get('/api/threads/:thread', async (c) => {
    const store = getStore(host, c);
    const threadId = readIdParam(c, 'thread');
    const thread = await requireThread(store, threadId);
    const [live, runs] = await Promise.all([
      store.registry.liveRun(store.scope, { threadId }),
      store.registry.listRuns(store.scope, { threadId }),
    ]);
    const usage = sumUsage(runs.flatMap((run) => run.usage ?? []));
    return c.json({
      thread: toThreadInfo(thread),
      ...(live && { live: toLiveInfo(live) }),
      ...(usage.length > 0 && { usage }),
    });
  });

  app.patch('/api/threads/:thread', async (c) => {
    const store = getStore(host, c);
    const threadId = readIdParam(c, 'thread');
    const { title, headId, metadata } = await readJson(c.req.raw, threadPatch, host.limits);
    const thread = await requireThread(store, threadId);
    const saved = await store.saveThread({
      thread: {
        id: threadId,
        ...defined({ title, headId, metadata: metadata && { ...thread.metadata, ...metadata } }),
      },
    });
    return c.json({ thread: toThreadInfo(saved) });
  });

  app.delete('/api/threads/:thread', async (c) => {
    await getStore(host, c).deleteThread({ threadId: readIdParam(c, 'thread') });
    return c.body(null, 204);
  });

  app.get('/api/threads/:thread/messages', async (c) => {
    const { format, ...page } = readQuery(c.req.raw, messagesQuery);
    return c.json(await listBranch(host, getStore(host, c), readIdParam(c, 'thread'), { format, ...defined(page) }));
  });

  app.delete('/api/threads/:thread/messages/:message', async (c) => {
    const store = getStore(host, c);
    const [threadId, messageId] = [readIdParam(c, 'thread'), readIdParam(c, 'message')];
    await requireThread(store, threadId);
    if (!(await store.getMessage({ threadId, messageId }))) throw new IntertieError('no-message');
    await store.deleteMessage({ threadId, messageId });
    return c.body(null, 204);
  });

  app.get('/api/threads/:thread/tree', async (c) => {
    const store = getStore(host, c);
    const threadId = readIdParam(c, 'thread');
    const thread = await requireThread(store, threadId);
    const { headId } = thread;
    const nodes = await host.trees.read(store, thread);
    const messages = [...nodes.values()].toSorted((a, b) => a.createdAt.localeCompare(b.createdAt));
    return c.json({ messages, ...(headId !== undefined && { headId }) });
  });

  app.get('/api/threads/:thread/runs', async (c) => {
    const store = getStore(host, c);
    const threadId = readIdParam(c, 'thread');
    await requireThread(store, threadId);
    const runs = await store.registry.listRuns(store.scope, { threadId });
    return c.json({ runs: runs.map((run) => toRunInfo(run, host, runs)) });
  });

  app.get('/api/threads/:thread/events', async (c) => {
    const { since } = readQuery(c.req.raw, sinceQuery);
    const last = Number(c.req.header('last-event-id'));
    const from = c.req.header('last-event-id') !== undefined && Number.isSafeInteger(last) ? last : since;
    return streamThreadEvents(getStore(host, c), readIdParam(c, 'thread'), from);
  });

  app.get('/api/threads/:thread/export', async (c) => {
    const store = getStore(host, c);
    return exportThread(host, store, await requireThread(store, readIdParam(c, 'thread')));
  });
}
