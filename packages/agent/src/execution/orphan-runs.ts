import type { RunRecord } from '@intertie/core';
import type { Ownership, Registry, RunKey } from '@intertie/core/store';
import type { OwnershipCalls } from './ownership-calls.ts';

export type OrphanRunsOptions = {
  registry: Pick<Registry, 'listOwned'>;
  process: string;
  calls: OwnershipCalls;
  /** Keys of the runs that this process executes or ends. */
  known: () => Iterable<RunKey>;
};

type Suspect = { epoch: number; hasSettled: () => boolean };

/**
 * Finds runs that the registry assigns to this process and that the process does not know: the reply that gave it the run was
 * lost. No other process takes them over, because this one is alive.
 */
export class OrphanRuns {
  #options: OrphanRunsOptions;
  #suspects = new Map<RunKey, Suspect>();

  constructor(options: OrphanRunsOptions) {
    this.#options = options;
  }

  /**
   * Returns the runs that were also unknown at the previous call, and that no registry call in flight at that time can still
   * assign to this process.
   */
  async find(): Promise<Ownership[]> {
    const { registry, process, calls, known } = this.#options;
    const owned = await registry.listOwned(process, { except: [...known()] });
    const current = new Set(known());
    const unknown = owned.filter(({ run }) => !isKnown(run, current));
    const orphans: Ownership[] = [];
    const suspects = new Map<RunKey, Suspect>();
    for (const candidate of unknown) {
      const { run, epoch } = candidate;
      const seen = this.#suspects.get(run.key);
      const suspect = seen?.epoch === epoch ? seen : undefined;
      if (suspect?.hasSettled()) orphans.push(candidate);
      else suspects.set(run.key, suspect ?? { epoch, hasSettled: calls.observe() });
    }
    this.#suspects = suspects;
    return orphans;
  }
}

/** A continuation belongs to the run that it continues until the reply to the end of that run has arrived. */
function isKnown({ key, resumes }: RunRecord, known: ReadonlySet<RunKey>): boolean {
  return known.has(key) || (resumes !== undefined && known.has(resumes));
}
