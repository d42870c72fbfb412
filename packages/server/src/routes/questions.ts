import type { Json, Store } from '@intertie/core';
import type { Decision } from '@intertie/core/store';
import { defined } from '@intertie/core/internal';
import { z } from 'zod';
import { toDecisionInfo, toThreadInfo } from './api.ts';
import type { Host } from '../host/host.ts';
import { readQuery } from '../http/read-json.ts';
import { getStore, type App } from './context.ts';

type ThreadTitle = { title?: string; agent?: string };
type Call = { toolName: string; input?: Json };

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
    // The client of one thread shows its title and its calls already.
    const shown = thread === undefined ? decisions : [];
    const [titles, calls] = await Promise.all([readTitles(store, shown), readCalls(store, shown)]);
    const questions = decisions.map((decision) =>
      Object.assign(toDecisionInfo(decision), titles.get(decision.threadId), calls.get(decision)),
    );
    return c.json({ questions });
  });
}

/** Maximum number of threads whose titles, and of approvals whose calls, one response contains. */
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

/** Reads the tool calls that open approvals are about. The message of a live run is not stored yet, so its calls are missing. */
async function readCalls(store: Store, decisions: readonly Decision[]): Promise<Map<Decision, Call>> {
  const approvals = decisions.filter(({ kind, state }) => kind === 'approval' && state === 'open').slice(0, maxTitles);
  const calls = new Map<Decision, Call>();
  await Promise.all(
    approvals.map(async (decision) => {
      const { threadId, messageId, toolCallId } = decision;
      const message = toolCallId === undefined ? null : await store.getMessage({ threadId, messageId });
      const call = message?.content.parts.find(
        (part) => part.type === 'tool-invocation' && part.toolCallId === toolCallId,
      );
      if (call?.type === 'tool-invocation')
        calls.set(decision, { toolName: call.toolName, ...defined({ input: call.args }) });
    }),
  );
  return calls;
}
