import type { Fault } from '@intertie/core';
import type { AGUIRunInput } from '../shared/ag-ui-event.ts';
import { aguiSSEHeaders, writeAGUISSE } from '../wire/ag-ui-sse.ts';
import { encodeStreamText, type StreamTextLike, type ToAGUIOptions } from './to-ag-ui.ts';

export interface ToAGUIResponseOptions extends ToAGUIOptions {
  input: AGUIRunInput;
  headers?: Record<string, string>;
  /** Interval without events after which a keep-alive comment is sent. Default: 15 seconds. */
  keepAliveMs?: number;
  /** Text of an error for the client. Default: a generic sentence with the run id; see `createAGUIHandler`. */
  errorText?: (error: Fault) => string;
}

/** Creates the response of a route that calls `streamText`, for an AG-UI client. */
export function toAGUIResponse(result: StreamTextLike, options: ToAGUIResponseOptions): Response {
  const { headers, keepAliveMs = 15_000, errorText, ...encoding } = options;
  const bytes = writeAGUISSE(encodeStreamText(result, encoding, { errorText }), { keepAliveMs });
  return new Response(bytes, { headers: { ...aguiSSEHeaders, ...headers } });
}
