/** Why a process may no longer write a run; see `Appended`. `closed`: the process itself closed the writer. */
export type RunLostReason = 'fenced' | 'ended' | 'regressed' | 'closed';

const texts: { [Reason in RunLostReason]: string } = {
  fenced: 'Another process owns it now. Stop the source, and write nothing more.',
  ended: 'It has ended, or was deleted. Stop the source, and write nothing more.',
  regressed: 'The database has lost commits. Take the run over again, and end it from local state.',
  closed: 'The flusher of this process was closed before the event was durable.',
};

/** Reports that events are not in the log and never will be, because this process may no longer write the run. */
export class RunLostError extends Error {
  override readonly name = 'RunLostError';
  readonly reason: RunLostReason;

  constructor(run: string, reason: RunLostReason) {
    super(`Run ${run} can no longer be written. ${texts[reason]}`);
    this.reason = reason;
  }
}
