import type { Sql } from '../src/database.ts';

const times = {
  processes: ['lease_until'],
  decisions: ['expires_at'],
  run_live: ['stop_requested_at'],
  runs: ['ended_at'],
  requests: ['created_at'],
  blobs: ['touched_at'],
};

/** Of stores in tests: where time passes by `age` alone, no machine is so slow that a lease ends by accident. */
export const longLeaseMs = 600_000;

/**
 * Makes time pass for a database: nobody can set its clock, but all that it compares with the clock can be made older.
 * Unlike a wait it takes no time, so that leases can be as long as they are in earnest.
 */
export async function age(sql: Sql, ms: number): Promise<void> {
  for (const [table, columns] of Object.entries(times)) {
    const changes = columns.map((column) => `${column} = ${column} - $1::float8 * interval '1 ms'`);
    await sql.query(`update intertie.${table} set ${changes.join(', ')}`, [ms]);
  }
}
