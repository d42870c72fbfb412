/** One server-sent event. Line breaks in a field cannot start another field. */
export type SSEvent = { id?: string; event?: string; data: unknown };

const encoder = new TextEncoder();

function toSSE({ id, event, data }: SSEvent): string {
  const fields = `${id === undefined ? '' : `id: ${oneLine(id)}\n`}${event === undefined ? '' : `event: ${oneLine(event)}\n`}`;
  // JSON contains no raw line breaks, so the data is one line.
  return `${fields}data: ${JSON.stringify(data)}\n\n`;
}

/** Encodes events as one chunk. */
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
  /** Releases resources opened before the first read: if the body is cancelled unread, the iterator never starts. */
  onCancel?: () => void;
};

/**
 * Streams server-sent events with backpressure. After a silent interval it sends a comment, so that proxies keep the
 * connection open and disconnected clients are noticed. If the iterator fails, the response fails too.
 */
export function sseResponse(
  chunks: (signal: AbortSignal) => AsyncIterable<Uint8Array>,
  { keepAliveMs = 15_000, headers, onCancel }: SSEOptions = {},
): Response {
  const cancelled = new AbortController();
  let iterator: AsyncIterator<Uint8Array> | undefined;
  let timer: ReturnType<typeof setInterval> | undefined;
  let isSilent = true;
  const body = new ReadableStream<Uint8Array>(
    {
      start(controller) {
        // Headers are sent with the first byte, and the client waits for them to know that it is connected.
        controller.enqueue(keepAlive);
      },
      async pull(controller) {
        iterator ??= chunks(cancelled.signal)[Symbol.asyncIterator]();
        // One timer per response instead of one per chunk.
        timer ??= setInterval(() => {
          // Comments would pile up for a client that does not read.
          if (isSilent && (controller.desiredSize ?? 0) > 0) controller.enqueue(keepAlive);
          isSilent = true;
        }, keepAliveMs);
        try {
          const { done, value } = await iterator.next();
          isSilent = false;
          if (cancelled.signal.aborted) return;
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
        cancelled.abort();
        onCancel?.();
        // Not awaited: the iterator may be waiting for an event that never comes.
        void iterator?.return?.()?.catch(() => undefined);
      },
    },
    { highWaterMark: 1 },
  );
  return new Response(body, { headers: { ...sseHeaders, ...headers } });
}
