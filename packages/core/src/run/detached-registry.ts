import type { DetachedLog } from './detached-log.ts';
import { override } from './override.ts';
import type { Ownership, Registry } from '../store/registry.ts';
import { DatabaseUnavailableError } from '../store/database-unavailable-error.ts';
import type { LogBatch, RunKey } from '../store/run-log.ts';

export type DetachedRegistryOptions = {
  registry: Registry;
  log: DetachedLog;
  /** Updated with the process that writes each run. */
  processByRun: Map<RunKey, string>;
  onError: (error: unknown) => void;
};

/**
 * Wraps a registry so that a log in another place follows its decisions. The registry decides first: a process that it did not make
 * the owner of a run never touches the log.
 */
export function createDetachedRegistry({ registry, log, processByRun, onError }: DetachedRegistryOptions): Registry {
  /** Runs taken over while the log was unreachable. The next takeover returns them, because no other process will end them. */
  const unfenced = new Map<RunKey, Ownership>();

  const recordOwner = (owned: Ownership | null | undefined): void => {
    if (owned?.run.process !== undefined) processByRun.set(owned.run.key, owned.run.process);
  };

  /** Fences earlier epochs of the log and reads its length. Null: another process has taken the run since. */
  const ownLog = async (owned: Ownership): Promise<Ownership | null> => {
    const next = await log.own(owned.run.key, owned.epoch);
    // From now on, the caller executes or ends the run.
    unfenced.delete(owned.run.key);
    if (next === 'fenced') return null;
    recordOwner(owned);
    return next === 'ended' ? owned : { ...owned, nextSeq: next };
  };

  const fenceLog = async (owned: Ownership): Promise<Ownership | null> => {
    try {
      return await ownLog(owned);
    } catch (error) {
      unfenced.set(owned.run.key, owned);
      throw error;
    }
  };

  const nullOnError = async (owned: Promise<Ownership | null>): Promise<Ownership | null> => {
    try {
      return await owned;
    } catch (error) {
      onError(error);
      return null;
    }
  };

  const collectOwned = async (owned: ReadonlyArray<Promise<Ownership | null>>): Promise<Ownership[]> =>
    (await Promise.all(owned.map(nullOnError))).filter((each) => each !== null);

  /**
   * Writes the events before the end of a run while it is still live. A reader that finds the run ended has only its end to derive,
   * even if the process dies before the log is closed.
   */
  const writeContent = async (batch: LogBatch): Promise<'ok' | 'fenced'> => {
    if (batch.events.length === 0) {
      const logged = (await log.positions([batch.run])).get(batch.run);
      return logged && !logged.ended && logged.next > batch.seq ? 'fenced' : 'ok';
    }
    const [verdict] = await log.append([batch]);
    if (verdict === 'locked') throw new DatabaseUnavailableError(`The log of the run ${batch.run} is busy.`);
    // The registry knows which epoch closed a log. A log that lost events must not prevent the end of the run.
    return verdict === 'fenced' ? 'fenced' : 'ok';
  };

  return override(registry, {
    async start(scope, request) {
      const result = await registry.start(scope, request);
      if (result.type === 'started') recordOwner(result);
      if (result.type !== 'queued' || !result.takenOver) return result;
      const { takenOver, ...queued } = result;
      const owned = await nullOnError(fenceLog(takenOver));
      return owned ? { ...queued, takenOver: owned } : queued;
    },

    async answer(scope, run, request) {
      const result = await registry.answer(scope, run, request);
      recordOwner(result?.continuation?.ownership);
      return result;
    },

    async promote(scope, threadId, process, claim) {
      const owned = await registry.promote(scope, threadId, process, claim);
      recordOwner(owned);
      return owned;
    },

    async fence(run, process, silentMs, claim) {
      const owned = await registry.fence(run, process, silentMs, claim);
      return owned && fenceLog(owned);
    },

    async takeOver(process, options) {
      const taken = await registry.takeOver(process, options);
      const pending = [...unfenced.values()].filter(({ run }) => run.process === process);
      for (const { run } of pending) unfenced.delete(run.key);
      return collectOwned([...pending, ...taken].map(fenceLog));
    },

    async listOwned(process, query) {
      // Not `fenceLog`: these runs may be executing, so the next takeover must not return them.
      return collectOwned((await registry.listOwned(process, query)).map(ownLog));
    },

    async deleteHidden(minAgeMs, limit) {
      const deleted = await registry.deleteHidden(minAgeMs, limit);
      // A log that cannot be deleted now expires.
      if (deleted.runs.length > 0) await log.drop(deleted.runs, { erase: true }).catch(onError);
      return deleted;
    },

    async finish(run, epoch, end) {
      const { nextSeq, events } = end;
      const content = events.slice(0, -1);
      if ((await writeContent({ run, epoch, seq: nextSeq, events: content })) === 'fenced') return { result: 'fenced' };
      const result = await registry.finish(run, epoch, { ...end, detachedLog: true });
      if (result.result === 'fenced') return result;
      recordOwner(result.continuation);
      processByRun.delete(run);
      // The run has ended now, even if its log cannot be closed.
      const last = { run, epoch, seq: nextSeq + content.length, events: events.slice(-1) };
      await log.close(last).catch(onError);
      return result;
    },
  });
}
