import type { DetachedLog } from './detached-log.ts';
import { override } from './override.ts';
import type { Ownership, Registry } from '../store/registry.ts';
import type { RunKey } from '../store/run-log.ts';

export type DetachedRegistryOptions = {
  registry: Registry;
  log: DetachedLog;
  /** Is told who writes which run. */
  processOf: Map<RunKey, string>;
  onError: (error: unknown) => void;
};

/**
 * A registry that tells a log in another place what it has decided. Its own word is given first: whoever it does not call the
 * owner of a run touches no log.
 */
export function createDetachedRegistry({ registry, log, processOf, onError }: DetachedRegistryOptions): Registry {
  /** Taken over while the log was out of reach: given out with the next takeover, since nobody else will end them. */
  const unfenced = new Map<RunKey, Ownership>();

  const note = (owned: Ownership | null | undefined): void => {
    if (owned?.run.process !== undefined) processOf.set(owned.run.key, owned.run.process);
  };

  /** Fences earlier epochs of the log and reads its length. Null: another process has taken the run since. */
  const ownLog = async (owned: Ownership): Promise<Ownership | null> => {
    const next = await log.own(owned.run.key, owned.epoch);
    if (next === 'fenced') return null;
    note(owned);
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

  const orNull = async (owned: Promise<Ownership | null>): Promise<Ownership | null> => {
    try {
      return await owned;
    } catch (error) {
      onError(error);
      return null;
    }
  };

  const all = async (owned: ReadonlyArray<Promise<Ownership | null>>): Promise<Ownership[]> =>
    (await Promise.all(owned.map(orNull))).filter((each) => each !== null);

  return override(registry, {
    async start(scope, request) {
      const result = await registry.start(scope, request);
      if (result.type === 'started') note(result);
      if (result.type !== 'queued' || !result.takenOver) return result;
      const { takenOver, ...queued } = result;
      const owned = await orNull(fenceLog(takenOver));
      return owned ? { ...queued, takenOver: owned } : queued;
    },

    async answer(scope, run, request) {
      const result = await registry.answer(scope, run, request);
      note(result?.continuation?.ownership);
      return result;
    },

    async promote(scope, threadId, process, claim) {
      const owned = await registry.promote(scope, threadId, process, claim);
      note(owned);
      return owned;
    },

    async fence(run, process, silentMs, claim) {
      const owned = await registry.fence(run, process, silentMs, claim);
      return owned && fenceLog(owned);
    },

    async takeOver(process, options) {
      const taken = await registry.takeOver(process, options);
      const waiting = [...unfenced.values()].filter(({ run }) => run.process === process);
      for (const { run } of waiting) unfenced.delete(run.key);
      return all([...waiting, ...taken].map(fenceLog));
    },

    async listOwned(process, query) {
      // Not `fenceLog`: these runs may be executing, so the next takeover must not return them.
      return all((await registry.listOwned(process, query)).map(ownLog));
    },

    async finish(run, epoch, end) {
      const logged = (await log.positions([run])).get(run);
      // Of a log that is closed the registry knows who closed it; one that has lost events is no reason not to end.
      if (logged && !logged.ended && logged.next > end.nextSeq) return { result: 'fenced' };
      const result = await registry.finish(run, epoch, { ...end, detachedLog: true });
      if (result.result === 'fenced') return result;
      note(result.continuation);
      processOf.delete(run);
      // From here on the run has ended, whatever becomes of its log.
      await log.close({ run, epoch, seq: end.nextSeq, events: end.events }).catch(onError);
      return result;
    },
  });
}
