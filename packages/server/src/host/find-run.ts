import type { DurableRun, RunRecord, Store } from '@intertie/core';
import type { Host, HostedAgent } from './host.ts';
import { IntertieError } from '../errors/intertie-error.ts';

export type FoundRun = { record: RunRecord; hosted: HostedAgent | undefined };

/** Finds a run by the client's id; without a thread, the newest with that id. Throws `no-run`. */
export async function findRun(host: Host, store: Store, runId: string, threadId?: string): Promise<FoundRun> {
  const record = await store.registry.findRun(store.scope, { runId, ...(threadId !== undefined && { threadId }) });
  if (!record) throw new IntertieError('no-run');
  return { record, hosted: host.agents.get(record.agent) };
}

/** Opens a run to follow or stop it. Any agent can do that, so the default agent replaces one that is not configured. */
export async function openRun(host: Host, store: Store, { record, hosted }: FoundRun): Promise<DurableRun> {
  const { agent } = hosted ?? host.defaultAgent;
  const run = await agent.forScope(store.scope).find({ runId: record.runId, threadId: record.threadId });
  if (!run) throw new IntertieError('no-run');
  return run;
}
