import type { Sql } from '../src/database.ts';

const times = {
  processes: ['lease_until'],
  decisions: ['expires_at'],
  run_live: ['stop_requested_at'],
  runs: ['ended_at'],
  requests: ['created_at'],
  blobs: ['touched_at'],
};

/** Lease for tests in which time passes only by `age`. Long enough that it never expires on a slow machine. */
export const longLeaseMs = 600_000;

/**
 * Advances the time of a database. Its clock cannot be set, so all timestamps that are compared with the clock are moved back.
 * Takes no time, so tests can use realistic leases.
 */
export async function age(sql: Sql, ms: number): Promise<void> {
  for (const [table, columns] of Object.entries(times)) {
    const changes = columns.map((column) => `${column} = ${column} - $1::float8 * interval '1 ms'`);
    await sql.query(`update intertie.${table} set ${changes.join(', ')}`, [ms]);
  }
}
