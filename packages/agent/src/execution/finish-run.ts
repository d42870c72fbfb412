import { generateId, type CanonicalMessage, type EventOf, type RunRecord, type Store } from '@intertie/core';
import { toOutcome } from '@intertie/core/internal';
import { collectDecisions, type FinishRequest, type FinishResult, type Ownership } from '@intertie/core/store';
import { persist, type PersistOptions } from './persist.ts';
import { toContinuationInput } from './prepare-run.ts';

/** Builds the registry's finish request, without the events that are still to be logged. */
export function toFinishRequest(
  run: RunRecord,
  { content, state, sourceState }: CanonicalMessage,
  end: EventOf<'run-end'>,
  process: string,
): Omit<FinishRequest, 'nextSeq' | 'events'> {
  const outcome = toOutcome(end);
  return {
    outcome,
    content,
    decisions: collectDecisions(outcome, content),
    continuation: { runId: generateId(), process, input: toContinuationInput(run) },
    ...(end.usage && { usage: end.usage }),
    ...(state !== undefined && { state }),
    ...(sourceState !== undefined && { sourceState }),
  };
}

/** Ends a run after the database lost commits: takes ownership again and saves the message, which is complete in memory. */
export async function finishAfterLogLoss(
  { store: { registry }, process }: { store: Store; process: string },
  { run }: Ownership,
  message: CanonicalMessage,
  options: PersistOptions,
): Promise<FinishResult> {
  const claim = generateId();
  await persist(() => registry.stop(run.scope, run.key, 'log-lost'), options);
  const owned = await persist(() => registry.fence(run.key, process, 0, claim), options);
  if (!owned) return { result: 'fenced' };
  const error = { message: 'The database lost a part of the event log. The message is complete.', code: 'log-lost' };
  const end: EventOf<'run-end'> = { type: 'run-end', outcome: 'error', error, at: Date.now() };
  const ending = { ...toFinishRequest(run, message, end, process), nextSeq: owned.nextSeq, events: [end] };
  return persist(() => registry.finish(run.key, owned.epoch, ending), options);
}
