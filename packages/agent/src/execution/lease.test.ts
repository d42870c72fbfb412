import { expect, it } from 'vitest';

import { Lease } from './lease.ts';

function leaseOn({ isExclusive = false } = {}) {
  let at = 0;
  let isAway = false;
  const heartbeat = async (): Promise<void> => {
    if (isAway) throw new Error('The store is away.');
  };
  const timing = { getLeaseMs: () => 15_000, heartbeatMs: 5_000, now: () => at };
  const lease = new Lease({ registry: { heartbeat, isExclusive }, process: 'p', ...timing });
  return { lease, wait: (ms: number) => void (at += ms), setAway: (away: boolean) => void (isAway = away) };
}

it('reports a lease as reliable two heartbeats after the start, while it is renewed', async () => {
  const { lease, wait } = leaseOn();
  await lease.renew();
  wait(5_000);
  await lease.renew();
  expect(lease.isReliable).toBe(false);
  for (let n = 0; n < 10; n++) {
    wait(5_500);
    await lease.renew();
    expect(lease.isReliable).toBe(true);
  }
});

it('reports a lease as reliable from the start if no other process can use the store', async () => {
  const { lease } = leaseOn({ isExclusive: true });
  await lease.renew();
  expect(lease.isReliable).toBe(true);
});

it('reports a lease as unreliable for two heartbeats after an outage of the store', async () => {
  const { lease, wait, setAway } = leaseOn();
  await lease.renew();
  setAway(true);
  for (let n = 0; n < 4; n++) {
    wait(5_000);
    await expect(lease.renew()).rejects.toThrow('away');
  }
  setAway(false);
  await lease.renew();
  expect(lease.isReliable).toBe(false);
  wait(5_000);
  await lease.renew();
  expect(lease.isReliable).toBe(false);
  wait(5_000);
  await lease.renew();
  expect(lease.isReliable).toBe(true);
});

it('holds a lease from the request to renew it until it expires', async () => {
  const { lease, wait } = leaseOn();
  expect(lease.isHeld).toBe(false);
  const renewed = lease.renew();
  // The reply takes a second.
  wait(1_000);
  await renewed;
  wait(13_999);
  expect(lease.isHeld).toBe(true);
  wait(1);
  expect(lease.isHeld).toBe(false);
});
