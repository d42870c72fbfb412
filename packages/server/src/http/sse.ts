/** One server-sent event. No field can break out of its line, whatever is in it. */
export type SSEvent = { id?: string; event?: string; data: unknown };

const encoder = new TextEncoder();

function toSSE({ id, event, data }: SSEvent): string {
  const fields = `${id === undefined ? '' : `id: ${oneLine(id)}\n`}${event === undefined ? '' : `event: ${oneLine(event)}\n`}`;
  // JSON has no raw line ends, so the data is one line.
  return `${fields}data: ${JSON.stringify(data)}\n\n`;
}

/** Events in one piece: what comes together is written together. */
export function toSSEBytes(events: readonly SSEvent[]): Uint8Array {
  return encoder.encode(events.map(toSSE).join(''));
}

const keepAlive: Uint8Array = encoder.encode(': \n\n');

function oneLine(text: string): string {
  return /[\r\n\0]/.test(text) ? text.replace(/[\r\n\0]/g, ' ') : text;
}

const sseHeaders: { readonly [name: string]: string } = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-store',
  'x-accel-buffering': 'no',
};

export type SSEOptions = {
  keepAliveMs?: number;
  headers?: { [name: string]: string };
  /** Lets go of what was opened before the events: of a body that is cancelled unread, they are never asked for. */
  onLeave?: () => void;
};

/**
 * A response of events, read on demand: a client that does not read is not written for. A comment is sent after a silence, so
 * that proxies keep the connection and a client that is gone is noticed. If the iterator fails, so does the response.
 */
export function sseResponse(
  pieces: (signal: AbortSignal) => AsyncIterable<Uint8Array>,
  { keepAliveMs = 15_000, headers, onLeave }: SSEOptions = {},
): Response {
  const left = new AbortController();
  let iterator: AsyncIterator<Uint8Array> | undefined;
  let timer: ReturnType<typeof setInterval> | undefined;
  let isSilent = true;
  const body = new ReadableStream<Uint8Array>(
    {
      start(controller) {
        // Headers go out with the first byte, and a client wants to know that it is connected.
        controller.enqueue(keepAlive);
      },
      async pull(controller) {
        iterator ??= pieces(left.signal)[Symbol.asyncIterator]();
        // One timer for the whole response: what is written only says that this round was not silent.
        timer ??= setInterval(() => {
          // To a client that does not read, comments would only pile up.
          if (isSilent && (controller.desiredSize ?? 0) > 0) controller.enqueue(keepAlive);
          isSilent = true;
        }, keepAliveMs);
        try {
          const { done, value } = await iterator.next();
          isSilent = false;
          if (left.signal.aborted) return;
          if (!done) return controller.enqueue(value);
          clearInterval(timer);
          controller.close();
        } catch (error) {
          clearInterval(timer);
          throw error;
        }
      },
      cancel() {
        clearInterval(timer);
        left.abort();
        onLeave?.();
        // Not awaited: it may be waiting for something that never comes.
        void iterator?.return?.()?.catch(() => undefined);
      },
    },
    { highWaterMark: 1 },
  );
  return new Response(body, { headers: { ...sseHeaders, ...headers } });
}
