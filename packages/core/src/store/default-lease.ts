/**
 * Time for which a process owns its runs after a heartbeat, in milliseconds. A process that is blocked for longer than this minus
 * one heartbeat loses its runs; the runs of a dead process are ended no earlier. See docs/decisions/long-lease.md.
 */
export const defaultLeaseMs = 45_000;
