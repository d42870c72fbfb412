export type Handler = (request: Request) => Promise<Response>;

export interface CutStreams {
  handle: Handler;
  requests: string[];
  /** Number of frames after which each next stream is interrupted. Undefined: not interrupted. */
  cuts: Array<number | undefined>;
}

/** Wraps a handler and interrupts its streams like a failing network. */
export function cutStreams(handler: Handler): CutStreams {
  const streams: CutStreams = {
    requests: [],
    cuts: [],
    async handle(request) {
      const { pathname, search } = new URL(request.url);
      streams.requests.push(`${request.method} ${pathname}${search}`);
      const response = await handler(request);
      const isStream = response.headers.get('content-type') === 'text/event-stream';
      const after = isStream ? streams.cuts.shift() : undefined;
      return after === undefined ? response : new Response(cut(response.body!, after), response);
    },
  };
  return streams;
}

function cut(body: ReadableStream<Uint8Array>, after: number): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  const encoder = new TextEncoder();
  let remaining = after;
  let buffer = '';
  return new ReadableStream(
    {
      async pull(controller) {
        while (remaining > 0) {
          const end = buffer.indexOf('\n\n');
          if (end !== -1) {
            remaining -= 1;
            controller.enqueue(encoder.encode(buffer.slice(0, end + 2)));
            buffer = buffer.slice(end + 2);
            return;
          }
          const { done, value } = await reader.read();
          if (done) return controller.close();
          buffer += decoder.decode(value, { stream: true });
        }
        void reader.cancel();
        controller.error(new Error('cut'));
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  );
}
