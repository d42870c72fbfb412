import type { AGUIRunInput } from './ag-ui-event.ts';
import { aguiSSEHeaders, writeFeedSSE } from './ag-ui-sse.ts';
import { feedAGUI, type StreamTextLike, type ToAGUIOptions } from './to-ag-ui.ts';

export interface ToAGUIResponseOptions extends ToAGUIOptions {
  input: AGUIRunInput;
  headers?: Record<string, string>;
  /** After how long a silence a comment is sent. Default: 15 seconds. */
  keepAliveMs?: number;
}

/** One line in a route that already has `streamText`: its answer for an AG-UI client. */
export function toAGUIResponse(result: StreamTextLike, options: ToAGUIResponseOptions): Response {
  const { headers, keepAliveMs = 15_000, ...more } = options;
  const bytes = writeFeedSSE(feedAGUI(result, more), { keepAliveMs });
  return new Response(bytes, { headers: { ...aguiSSEHeaders, ...headers } });
}
