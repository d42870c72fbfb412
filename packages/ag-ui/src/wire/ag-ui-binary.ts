import type { AGUIEvent } from '../shared/ag-ui-event.ts';

/** Binary encoding of events on the wire. */
export interface AGUIBinary {
  readonly mediaType: string;
  /** Encodes one event, prefixed with its length. */
  frame(event: AGUIEvent): Uint8Array;
}

/** Whether a client requests the media type explicitly. Wildcards get text, because proxies send `*`. */
export function accepts({ mediaType }: AGUIBinary, request: Request): boolean {
  const accepted = (request.headers.get('accept') ?? '').split(',').map((one) => one.trim().split(/\s*;\s*/));
  return accepted.some(([name = '', ...rest]) => name.toLowerCase() === mediaType && !rest.some(isRefusal));
}

function isRefusal(parameter: string): boolean {
  return /^q=0(?:\.0*)?$/.test(parameter);
}
