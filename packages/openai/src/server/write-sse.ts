import { pullStream } from '@intertie/core/internal';

const keepAliveMs = 15_000;

/** Writes texts as a byte stream, read on demand, with comments while idle so that proxies keep the connection. */
export function writeSSE(read: () => Promise<{ text: string; isLast: boolean }>, cancel: () => unknown): Response {
  const encoder = new TextEncoder();
  let timer: ReturnType<typeof setInterval> | undefined;
  const stop = (): void => clearInterval(timer);
  const bytes = pullStream<Uint8Array>({
    async pull(emit) {
      clearInterval(timer);
      timer = setInterval(() => emit(encoder.encode(': keep-alive\n\n')), keepAliveMs);
      const { text, isLast } = await read();
      stop();
      emit(encoder.encode(text));
      return !isLast;
    },
    cancel() {
      stop();
      return cancel();
    },
  });
  const headers = {
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-cache, no-transform',
    // nginx would deliver buffered streams in large pieces.
    'x-accel-buffering': 'no',
  };
  return new Response(bytes, { headers });
}
