import { generateId, type CanonicalMessage, type EventOf, type RunRecord, type Store } from '@intertie/core';
import { toOutcome } from '@intertie/core/internal';
import { collectDecisions, type FinishRequest, type FinishResult, type Ownership } from '@intertie/core/store';
import { persist, type PersistOptions } from './persist.ts';
import { continuedInput } from './prepare-run.ts';

/** What the registry is told of the end of a run, but for what is left to log. */
export function endingOf(
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
    continuation: { runId: generateId(), process, input: continuedInput(run) },
    ...(end.usage && { usage: end.usage }),
    ...(state !== undefined && { state }),
    ...(sourceState !== undefined && { sourceState }),
  };
}

/** The database has lost commits: the message is complete here, so the process takes ownership again and ends the run with it. */
export async function finishAnew(
  { store: { registry }, process }: { store: Store; process: string },
  { run }: Ownership,
  message: CanonicalMessage,
  options: PersistOptions,
): Promise<FinishResult> {
  const claim = generateId();
  await persist(() => registry.stop(run.scope, run.key, 'log-lost'), options);
  const owned = await persist(() => registry.fence(run.key, process, 0, claim), options);
  if (!owned) return { result: 'fenced' };
  const error = { message: 'The database lost a part of the log. The message is whole.', code: 'log-lost' };
  const end: EventOf<'run-end'> = { type: 'run-end', outcome: 'error', error, at: Date.now() };
  const ending = { ...endingOf(run, message, end, process), nextSeq: owned.nextSeq, events: [end] };
  return persist(() => registry.finish(run.key, owned.epoch, ending), options);
}
