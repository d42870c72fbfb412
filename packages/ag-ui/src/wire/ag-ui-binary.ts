import type { AGUIEvent } from '../shared/ag-ui-event.ts';

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
