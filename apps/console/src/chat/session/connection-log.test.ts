import { describe, expect, it, vi } from 'vitest';
import { describeConnectionLog, watchConnection, type ConnectionLogEntry } from './connection-log.ts';

describe('watchConnection', () => {
  it('logs a cut and the resume after it', async () => {
    const log: ConnectionLogEntry[] = [];
    const torn = new ReadableStream<Uint8Array>({
      start: (controller) => controller.enqueue(new Uint8Array([65])),
      pull: (controller) => controller.error(new TypeError('network')),
    });
    const responses = [new Response(torn), new Response('B')];
    const send = watchConnection((entry) => log.push({ ...entry, at: 0 }), { send: async () => responses.shift()! });
    await expect((await send('/api/chat', { method: 'POST' })).text()).rejects.toThrow('network');
    expect(await (await send('/api/chat/t/stream?run=r&after=1.7')).text()).toBe('B');
    expect(describeConnectionLog(log)).toEqual([
      'Connected',
      'Interrupted',
      'Resumed after event 1.7 (0 ms later)',
      'Complete',
    ]);
  });

  it('describes a stream that ended before a resume as interrupted', () => {
    const log: ConnectionLogEntry[] = [
      { at: 0, type: 'open' },
      { at: 5, type: 'closed' },
      { at: 9, type: 'resumed', after: '1.2' },
    ];
    expect(describeConnectionLog(log)).toEqual(['Connected', 'Interrupted', 'Resumed after event 1.2 (4 ms later)']);
  });

  it('does not log a stop request', async () => {
    const log: ConnectionLogEntry[] = [];
    const send = watchConnection((entry) => log.push(entry), { send: async () => new Response('{}') });
    await send('/api/chat/t/stop', { method: 'POST' });
    expect(log).toEqual([]);
  });

  it('releases the stream of a hidden page and resumes when the page is visible', async () => {
    const types: string[] = [];
    let hide = (): void => undefined;
    let show = (): void => undefined;
    let isCancelled = false;
    const endless = new ReadableStream<Uint8Array>({
      start: (controller) => controller.enqueue(new Uint8Array([65])),
      cancel: () => void (isCancelled = true),
    });
    const responses = [new Response(endless), new Response('B')];
    const send = watchConnection((entry) => types.push(entry.type), {
      send: async () => responses.shift()!,
      visibility: {
        onHiddenTimeout: (callback) => {
          hide = callback;
          return () => undefined;
        },
        waitUntilVisible: () => new Promise((resolve) => void (show = resolve)),
      },
    });
    const reader = (await send('/api/chat', { method: 'POST' })).body!.getReader();
    await reader.read();
    const next = reader.read();
    hide();
    await expect(next).rejects.toThrow(TypeError);
    expect(isCancelled).toBe(true);
    const resumed = send('/api/chat/t/stream?run=r&after=1.7');
    expect(responses).toHaveLength(1);
    show();
    expect(await (await resumed).text()).toBe('B');
    expect(types).toEqual(['open', 'released', 'resumed', 'closed']);
  });

  it('releases the stream when its slot is revoked and resumes with the next slot', async () => {
    const types: string[] = [];
    const endless = (): Response =>
      new Response(new ReadableStream({ start: (controller) => controller.enqueue(new Uint8Array([65])) }));
    const slots: Array<{ revoked: AbortController; isReleased: boolean; grant: () => void }> = [];
    const send = watchConnection((entry) => types.push(entry.type), {
      send: async () => endless(),
      acquireSlot: () =>
        new Promise((resolve) => {
          const slot = { revoked: new AbortController(), isReleased: false, grant: () => undefined as void };
          slot.grant = () => resolve({ revoked: slot.revoked.signal, release: () => void (slot.isReleased = true) });
          slots.push(slot);
        }),
    });
    // A new message does not wait for a slot, but acquires one for its answer.
    const reader = (await send('/api/chat', { method: 'POST' })).body!.getReader();
    await reader.read();
    await vi.waitFor(() => expect(slots).toHaveLength(1));
    slots[0]!.grant();
    await Promise.resolve();
    const next = reader.read();
    slots[0]!.revoked.abort();
    await expect(next).rejects.toThrow(TypeError);
    expect(slots[0]!.isReleased).toBe(true);

    const resumed = send('/api/chat/t/stream?run=r&after=1.7');
    await vi.waitFor(() => expect(slots).toHaveLength(2));
    expect(types).toEqual(['open', 'released']);
    slots[1]!.grant();
    const again = (await resumed).body!.getReader();
    await again.read();
    await again.cancel();
    expect(slots[1]!.isReleased).toBe(true);
    expect(types).toEqual(['open', 'released', 'resumed', 'closed']);
  });
});
