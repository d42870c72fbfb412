import type { Fault } from '@intertie/core';
import type { AGUIRunInput } from './ag-ui-event.ts';
import { aguiSSEHeaders, writeFeedSSE } from './ag-ui-sse.ts';
import { feedAGUI, type StreamTextLike, type ToAGUIOptions } from './to-ag-ui.ts';

export interface ToAGUIResponseOptions extends ToAGUIOptions {
  input: AGUIRunInput;
  headers?: Record<string, string>;
  /** After how long a silence a comment is sent. Default: 15 seconds. */
  keepAliveMs?: number;
  /** Text of an error for the client. Default: a generic sentence with the run id; see `createAGUIHandler`. */
  errorText?: (error: Fault) => string;
}

/** One line in a route that already has `streamText`: its answer for an AG-UI client. */
export function toAGUIResponse(result: StreamTextLike, options: ToAGUIResponseOptions): Response {
  const { headers, keepAliveMs = 15_000, errorText, ...more } = options;
  const bytes = writeFeedSSE(feedAGUI(result, more, { errorText }), { keepAliveMs });
  return new Response(bytes, { headers: { ...aguiSSEHeaders, ...headers } });
}
