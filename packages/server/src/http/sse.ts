/** One server-sent event. No field can break out of its line, whatever is in it. */
export type SSEvent = { id?: string; event?: string; data: unknown };

const encoder = new TextEncoder();

function toSSE({ id, event, data }: SSEvent): Uint8Array<ArrayBuffer> {
  // JSON has no raw line ends, so the data is one line.
  const fields = [
    ...(id === undefined ? [] : [`id: ${oneLine(id)}`]),
    ...(event === undefined ? [] : [`event: ${oneLine(event)}`]),
    `data: ${JSON.stringify(data)}`,
  ];
  return encoder.encode(`${fields.join('\n')}\n\n`);
}

const keepAlive: Uint8Array<ArrayBuffer> = encoder.encode(': \n\n');

function oneLine(text: string): string {
  return text.replace(/[\r\n\0]/g, ' ');
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
  events: (signal: AbortSignal) => AsyncIterable<SSEvent>,
  { keepAliveMs = 15_000, headers, onLeave }: SSEOptions = {},
): Response {
  const left = new AbortController();
  let iterator: AsyncIterator<SSEvent> | undefined;
  let pending: Promise<IteratorResult<SSEvent>> | undefined;
  const body = new ReadableStream<Uint8Array>(
    {
      start(controller) {
        // Headers go out with the first byte, and a client wants to know that it is connected.
        controller.enqueue(keepAlive);
      },
      async pull(controller) {
        iterator ??= events(left.signal)[Symbol.asyncIterator]();
        pending ??= iterator.next();
        let timer: ReturnType<typeof setTimeout> | undefined;
        const silence = new Promise<'silence'>((resolve) => {
          timer = setTimeout(() => resolve('silence'), keepAliveMs);
        });
        try {
          const result = await Promise.race([pending, silence]);
          if (left.signal.aborted) return;
          if (result === 'silence') return controller.enqueue(keepAlive);
          pending = undefined;
          if (result.done) controller.close();
          else controller.enqueue(toSSE(result.value));
        } finally {
          clearTimeout(timer);
        }
      },
      async cancel() {
        left.abort();
        onLeave?.();
        pending?.catch(() => undefined);
        // Not awaited: it may be waiting for something that never comes.
        void iterator?.return?.()?.catch(() => undefined);
      },
    },
    { highWaterMark: 1 },
  );
  return new Response(body, { headers: { ...sseHeaders, ...headers } });
}
