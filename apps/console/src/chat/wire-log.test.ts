import { describe, expect, it, vi } from 'vitest';
import { describeWire, watchWire, type WireNote } from './wire-log.ts';

describe('the wire', () => {
  it('tells of a stream that was cut and went on', async () => {
    const notes: WireNote[] = [];
    const torn = new ReadableStream<Uint8Array>({
      start: (controller) => controller.enqueue(new Uint8Array([65])),
      pull: (controller) => controller.error(new TypeError('network')),
    });
    const answers = [new Response(torn), new Response('B')];
    const send = watchWire((note) => notes.push({ ...note, at: 0 }), { send: async () => answers.shift()! });
    await expect((await send('/api/chat', { method: 'POST' })).text()).rejects.toThrow('network');
    expect(await (await send('/api/chat/t/stream?run=r&after=1.7')).text()).toBe('B');
    expect(describeWire(notes)).toEqual(['Connected', 'Cut off', 'Resumed behind 1.7 after 0 ms', 'Complete']);
  });

  it('calls a polite end before a resume what it was', () => {
    const notes: WireNote[] = [
      { at: 0, type: 'open' },
      { at: 5, type: 'closed' },
      { at: 9, type: 'resumed', after: '1.2' },
    ];
    expect(describeWire(notes)).toEqual(['Connected', 'Cut off', 'Resumed behind 1.2 after 4 ms']);
  });

  it('has nothing to say of a stop', async () => {
    const notes: WireNote[] = [];
    const send = watchWire((note) => notes.push(note), { send: async () => new Response('{}') });
    await send('/api/chat/t/stop', { method: 'POST' });
    expect(notes).toEqual([]);
  });

  it('is let go by a page that nobody sees, and asked for again when it is seen', async () => {
    const notes: string[] = [];
    let hide = (): void => undefined;
    let show = (): void => undefined;
    let isLeft = false;
    const endless = new ReadableStream<Uint8Array>({
      start: (controller) => controller.enqueue(new Uint8Array([65])),
      cancel: () => void (isLeft = true),
    });
    const answers = [new Response(endless), new Response('B')];
    const send = watchWire((note) => notes.push(note.type), {
      send: async () => answers.shift()!,
      visibility: {
        onLongHidden: (callback) => {
          hide = callback;
          return () => undefined;
        },
        whenSeen: () => new Promise((resolve) => void (show = resolve)),
      },
    });
    const reader = (await send('/api/chat', { method: 'POST' })).body!.getReader();
    await reader.read();
    const next = reader.read();
    hide();
    await expect(next).rejects.toThrow(TypeError);
    expect(isLeft).toBe(true);
    const resumed = send('/api/chat/t/stream?run=r&after=1.7');
    expect(answers).toHaveLength(1);
    show();
    expect(await (await resumed).text()).toBe('B');
    expect(notes).toEqual(['open', 'left', 'resumed', 'closed']);
  });

  it('is let go when others wait for it, and asked for again in turn', async () => {
    const notes: string[] = [];
    const endless = (): Response =>
      new Response(new ReadableStream({ start: (controller) => controller.enqueue(new Uint8Array([65])) }));
    const turns: Array<{ over: AbortController; isDone: boolean; give: () => void }> = [];
    const send = watchWire((note) => notes.push(note.type), {
      send: async () => endless(),
      takeTurn: () =>
        new Promise((resolve) => {
          const turn = { over: new AbortController(), isDone: false, give: () => undefined as void };
          turn.give = () => resolve({ over: turn.over.signal, done: () => void (turn.isDone = true) });
          turns.push(turn);
        }),
    });
    // What was just said does not wait for its turn, but takes one.
    const reader = (await send('/api/chat', { method: 'POST' })).body!.getReader();
    await reader.read();
    await vi.waitFor(() => expect(turns).toHaveLength(1));
    turns[0]!.give();
    await Promise.resolve();
    const next = reader.read();
    turns[0]!.over.abort();
    await expect(next).rejects.toThrow(TypeError);
    expect(turns[0]!.isDone).toBe(true);

    const resumed = send('/api/chat/t/stream?run=r&after=1.7');
    await vi.waitFor(() => expect(turns).toHaveLength(2));
    expect(notes).toEqual(['open', 'left']);
    turns[1]!.give();
    const again = (await resumed).body!.getReader();
    await again.read();
    await again.cancel();
    expect(turns[1]!.isDone).toBe(true);
    expect(notes).toEqual(['open', 'left', 'resumed', 'closed']);
  });
});
