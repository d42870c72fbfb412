/** Why a process may no longer write a run: see `Appended`; `closed` is its own doing. */
export type RunLostReason = 'fenced' | 'ended' | 'regressed' | 'closed';

const texts: { [Reason in RunLostReason]: string } = {
  fenced: 'Another process owns it now. Stop producing, and write nothing more.',
  ended: 'It has been ended, or deleted. Stop producing, and write nothing more.',
  regressed: 'The database has lost commits. Own the run anew, and end it from what is known here.',
  closed: 'The flusher of this process was closed before the event was durable.',
};

/** What was written is not in the log, and will not be. */
export class RunLostError extends Error {
  override readonly name = 'RunLostError';
  readonly reason: RunLostReason;

  constructor(run: string, reason: RunLostReason) {
    super(`Run ${run} cannot be written any more. ${texts[reason]}`);
    this.reason = reason;
  }
}
