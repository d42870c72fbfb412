import { defined } from '@intertie/core/internal';
import { z } from 'zod';
import { toDecisionInfo } from './api.ts';
import type { Host } from '../host/host.ts';
import { readQuery } from '../http/read-json.ts';
import { getStore, type App } from './context.ts';

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
    return c.json({ questions: decisions.map(toDecisionInfo) });
  });
}
