import { RunRefusedError, type DurableRun, type RunRecord, type Store } from '@intertie/core';
import type { Followed } from '@intertie/core/internal';
import type { LogPosition, RunKey, StopResult } from '@intertie/core/store';
import type { RunHost } from './run-host.ts';

/** Handle of a run in the store. Any process may execute it. */
export class StoredRun implements DurableRun {
  readonly runId: string;
  readonly threadId: string;
  readonly messageId: string;
  readonly key: RunKey;
  #agent: string;
  #host: RunHost;
  #store: Store;

  constructor(host: RunHost, store: Store, { runId, threadId, messageId, key, agent }: RunRecord) {
    this.runId = runId;
    this.threadId = threadId;
    this.messageId = messageId;
    this.key = key;
    this.#agent = agent;
    this.#host = host;
    this.#store = store;
  }

  follow(after?: LogPosition): ReadableStream<Followed> {
    return this.#host.follow({ scope: this.#store.scope, key: this.key, agent: this.#agent }, after);
  }

  async record(): Promise<RunRecord> {
    const record = await this.#store.registry.getRun(this.#store.scope, this.key);
    if (!record) throw new RunRefusedError({ code: 'not-found', what: 'run' });
    return record;
  }

  async stop(reason?: string): Promise<StopResult> {
    const result = await this.#store.registry.stop(this.#store.scope, this.key, reason);
    if (result === null) throw new RunRefusedError({ code: 'not-found', what: 'run' });
    if (result === 'requested') {
      this.#host.stop(this.key, { by: 'user', ...(reason !== undefined && { message: reason }) });
    }
    return result;
  }
}
