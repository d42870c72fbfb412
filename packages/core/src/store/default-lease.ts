/**
 * Time for which a process owns its runs after a heartbeat, in milliseconds. A process that is blocked for longer than this minus
 * one heartbeat loses its runs; the runs of a dead process are ended no earlier. See docs/decisions/long-lease.md.
 */
export const defaultLeaseMs = 45_000;

/** The same for a process whose agents can all continue a run: a takeover by mistake costs it a pause, not the run. */
export const defaultResumableLeaseMs = 15_000;
