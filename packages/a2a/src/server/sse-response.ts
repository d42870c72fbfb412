import { formatSSEErrorEvent, formatSSEEvent, SSE_HEADERS } from '@a2a-js/sdk';
import { pullStream } from '@intertie/core/internal';

export type SSEOptions<Item> = {
  toJson: (item: Item) => unknown;
  toErrorJson: (error: unknown) => unknown;
  keepAliveMs: number;
  /** Called after the first item. */
  getHeaders: () => Record<string, string>;
  /** Called when the client disconnects. */
  onCancel: () => void;
};

/**
 * Creates a response that streams items as server-sent events. Rejects if the first item fails, so that the request gets an error
 * response instead.
 */
export async function createSSEResponse<Item>(
  items: AsyncGenerator<Item, unknown>,
  { toJson, toErrorJson, keepAliveMs, getHeaders, onCancel }: SSEOptions<Item>,
): Promise<Response> {
  const first = await items.next();
  let next: Promise<IteratorResult<Item, unknown>> | undefined = Promise.resolve(first);
  const body = pullStream<string>({
    async pull(emit) {
      const waiting = (next ??= items.next());
      let resolveSilence: (value: undefined) => void;
      const silence = new Promise<undefined>((resolve) => (resolveSilence = resolve));
      const timer = setTimeout(() => resolveSilence(undefined), keepAliveMs);
      try {
        const result = await Promise.race([waiting, silence]);
        if (result === undefined) emit(': keep-alive\n\n');
        else if (!result.done) emit(formatSSEEvent(toJson(result.value)));
        if (result !== undefined) next = undefined;
        return !result?.done;
      } catch (error) {
        emit(formatSSEErrorEvent(toErrorJson(error)));
        return false;
      } finally {
        clearTimeout(timer);
      }
    },
    cancel() {
      onCancel();
      void items.return(undefined).catch(() => undefined);
    },
  });
  // The headers of the SDK include `Connection`, which belongs to the HTTP server.
  const { Connection: _, ...fixed } = SSE_HEADERS;
  return new Response(body.pipeThrough(new TextEncoderStream()), { headers: { ...fixed, ...getHeaders() } });
}
