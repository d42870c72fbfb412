import type { AGUIEvent } from './ag-ui-event.ts';

/** Another form of the events on the wire. */
export interface AGUIBinary {
  readonly mediaType: string;
  /** One event, with its length before it. */
  frame(event: AGUIEvent): Uint8Array;
}

/** Whether a client asks for it by name. One that takes anything (`*` is what proxies say) gets text. */
export function asksFor({ mediaType }: AGUIBinary, request: Request): boolean {
  const accepted = (request.headers.get('accept') ?? '').split(',').map((one) => one.trim().split(/\s*;\s*/));
  return accepted.some(([name = '', ...rest]) => name.toLowerCase() === mediaType && !rest.some(isRefusal));
}

function isRefusal(parameter: string): boolean {
  return /^q=0(?:\.0*)?$/.test(parameter);
}

export function writeAGUIBinary(events: ReadableStream<AGUIEvent>, binary: AGUIBinary): ReadableStream<Uint8Array> {
  const reader = events.getReader();
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { done, value } = await reader.read();
      if (done) controller.close();
      else controller.enqueue(binary.frame(value));
    },
    cancel: (reason) => reader.cancel(reason),
  });
}
