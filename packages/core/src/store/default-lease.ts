/**
 * How long a process owns its runs after a heartbeat, in milliseconds. A process that is busy for longer than this minus one
 * heartbeat loses its runs, and the runs of a process that died are ended no sooner. See docs/decisions/long-lease.md.
 */
export const defaultLeaseMs = 45_000;
