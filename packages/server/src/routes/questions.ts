import type { Store } from '@intertie/core';
import type { Decision } from '@intertie/core/store';
import { defined } from '@intertie/core/internal';
import { z } from 'zod';
import { toDecisionInfo, toThreadInfo } from './api.ts';
import type { Host } from '../host/host.ts';
import { readQuery } from '../http/read-json.ts';
import { getStore, type App } from './context.ts';

type ThreadTitle = { title?: string; agent?: string };

const query = z.object({
  state: z.enum(['open', 'answered', 'cancelled', 'expired']).optional(),
  thread: z.string().min(1).max(256).optional(),
});

/** Adds the route that lists questions of runs. */
export function addQuestionRoutes(app: App, host: Host): void {
  app.get('/api/questions', async (c) => {
    const store = getStore(host, c);
    const { state, thread } = readQuery(c.req.raw, query);
    const decisions = await store.registry.listDecisions(store.scope, defined({ state, threadId: thread }));
    // The questions of one thread need no title: the client shows that thread.
    const titles = thread === undefined ? await readTitles(store, decisions) : new Map<string, never>();
    const questions = decisions.map((decision) =>
      Object.assign(toDecisionInfo(decision), titles.get(decision.threadId)),
    );
    return c.json({ questions });
  });
}

/** Maximum number of threads whose titles one response contains. */
const maxTitles = 100;

/** Reads the title and the agent of each thread with a decision. */
async function readTitles(store: Store, decisions: readonly Decision[]): Promise<Map<string, ThreadTitle>> {
  const ids = [...new Set(decisions.map(({ threadId }) => threadId))].slice(0, maxTitles);
  const threads = await Promise.all(ids.map((threadId) => store.getThreadById({ threadId })));
  const titles = new Map<string, ThreadTitle>();
  for (const thread of threads) {
    if (!thread) continue;
    const { title, agent } = toThreadInfo(thread);
    titles.set(thread.id, defined({ title, agent }));
  }
  return titles;
}
