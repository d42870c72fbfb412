/** What happened to the connection that an answer comes on. */
export type WireNote = { at: number; type: 'open' | 'cut' | 'resumed' | 'closed'; after?: string };

/** A `fetch` that tells what becomes of the streams of a chat. Everything else passes as it is. */
export function watchWire(
  note: (note: WireNote) => void,
  send: typeof fetch = (...args) => fetch(...args),
): typeof fetch {
  return async (input, init) => {
    const url = new URL(input instanceof Request ? input.url : input, 'http://here');
    const isStream = !url.pathname.endsWith('/stop');
    const response = await send(input, init);
    if (!isStream || !response.ok || response.body === null) return response;
    const after = url.searchParams.get('after');
    note(after === null ? { at: Date.now(), type: 'open' } : { at: Date.now(), type: 'resumed', after });
    const { status, statusText, headers } = response;
    return new Response(watched(response.body, note), { status, statusText, headers });
  };
}

function watched(body: ReadableStream<Uint8Array>, note: (note: WireNote) => void): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  return new ReadableStream({
    async pull(controller) {
      try {
        const { done, value } = await reader.read();
        if (!done) return controller.enqueue(value);
        note({ at: Date.now(), type: 'closed' });
        controller.close();
      } catch (error) {
        note({ at: Date.now(), type: 'cut' });
        controller.error(error);
      }
    },
    cancel(reason) {
      note({ at: Date.now(), type: 'closed' });
      return reader.cancel(reason);
    },
  });
}

/** The notes in words. A stream that was closed and then resumed had been cut, however politely. */
export function describeWire(notes: readonly WireNote[]): string[] {
  return notes.map(({ type, after }, index) => {
    const next = notes[index + 1];
    switch (type) {
      case 'open':
        return 'Connected';
      case 'cut':
        return 'Cut off';
      case 'closed':
        return next?.type === 'resumed' ? 'Cut off' : 'Complete';
      case 'resumed': {
        const before = notes[index - 1];
        const gap = before === undefined ? 0 : notes[index]!.at - before.at;
        return `Resumed behind ${after?.split('~').at(-1)} after ${gap} ms`;
      }
    }
  });
}
