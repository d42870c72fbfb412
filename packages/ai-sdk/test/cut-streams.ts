export type Handler = (request: Request) => Promise<Response>;

export interface CutStreams {
  handle: Handler;
  requests: string[];
  /** Behind how many frames the streams to come break off, in their order. Undefined: not at all. */
  cuts: Array<number | undefined>;
}

/** A route whose streams break off, as a network does. */
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
  let left = after;
  let rest = '';
  return new ReadableStream(
    {
      async pull(controller) {
        while (left > 0) {
          const place = rest.indexOf('\n\n');
          if (place !== -1) {
            left -= 1;
            controller.enqueue(encoder.encode(rest.slice(0, place + 2)));
            rest = rest.slice(place + 2);
            return;
          }
          const { done, value } = await reader.read();
          if (done) return controller.close();
          rest += decoder.decode(value, { stream: true });
        }
        void reader.cancel();
        controller.error(new Error('cut'));
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  );
}
