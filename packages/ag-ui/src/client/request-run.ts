import { readRunHeaders } from '@intertie/core/http';
import { askAgent, type AGUIEndpoint } from '../wire/http-events.ts';
import { withQuery } from '../wire/with-query.ts';

/** How long after a stop an agent has to begin its answer, which says whether it keeps its runs. */
const patienceMs = 1000;

export interface AskForRunOptions {
  threadId: string;
  /** What the request's own URL says beyond the agent's. */
  query?: Record<string, string>;
  /** Nobody reads the answer any more. */
  leave: AbortSignal;
  /** Whether that is because the run was stopped. Asked again when all has happened that happens in the same turn. */
  isStopped: () => boolean;
}

/**
 * A request for the events of a run, of which a stop reaches the agent too. To most of them leaving says it; to one of ours that
 * keeps its runs it says nothing, and AG-UI has no word for it. So that one is asked, and no other: none knows the request.
 */
export async function askForRun(
  endpoint: AGUIEndpoint,
  init: Parameters<typeof askAgent>[1],
  { threadId, query, leave, isStopped }: AskForRunOptions,
): Promise<Response> {
  const request = new AbortController();
  let response: Response | undefined;
  let patience: ReturnType<typeof setTimeout> | undefined;

  const stop = async (runId: string): Promise<void> => {
    await new Promise((resolve) => setTimeout(resolve, 0));
    if (!isStopped()) return;
    const url = withQuery(endpoint.url, { threadId, runId });
    const answer = await askAgent({ ...endpoint, url }, { method: 'DELETE', keepalive: true });
    await answer.body?.cancel();
  };
  const abort = (): void => request.abort(leave.reason);
  const onLeave = (): void => {
    const mayBeStop = isStopped();
    if (response === undefined && mayBeStop) {
      patience = setTimeout(abort, patienceMs);
      return;
    }
    abort();
    const runId = response && keptRunOf(response);
    if (runId !== undefined && mayBeStop) stop(runId).catch(() => undefined);
  };

  if (leave.aborted) abort();
  leave.addEventListener('abort', onLeave, { once: true });
  try {
    const url = query ? withQuery(endpoint.url, query) : endpoint.url;
    response = await askAgent({ ...endpoint, url }, { ...init, signal: request.signal });
  } finally {
    clearTimeout(patience);
  }
  if (leave.aborted) onLeave();
  return response;
}

/** The run that goes on when its reader leaves, if this is the answer of an agent that keeps it. */
function keptRunOf(response: Response): string | undefined {
  const { runId, messageId } = readRunHeaders(response);
  return messageId === undefined ? undefined : runId;
}
