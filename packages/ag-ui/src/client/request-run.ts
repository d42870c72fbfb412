import { readRunHeaders } from '@intertie/core/http';
import { fetchAgent, type AGUIEndpoint } from '../wire/http-events.ts';

/** Time after a stop in which an agent must respond, to find out whether its run is durable. */
const stopTimeoutMs = 1000;

export interface RequestRunOptions {
  threadId: string;
  /** Additional query parameters of the request. */
  query?: Record<string, string>;
  /** Aborts when the response is no longer read. */
  leave: AbortSignal;
  /** Whether `leave` means a stop. Called again in the next task, because a new request of the chat may follow the abort. */
  isStopped: () => boolean;
}

/**
 * Requests the events of a run, and forwards a stop to the agent. Most agents stop when the client disconnects. A durable run
 * continues, and AG-UI has no request to stop it, so DELETE is sent to Intertie agents, recognised by their headers.
 */
export async function requestRun(
  endpoint: AGUIEndpoint,
  init: Parameters<typeof fetchAgent>[1],
  { threadId, query, leave, isStopped }: RequestRunOptions,
): Promise<Response> {
  const request = new AbortController();
  let response: Response | undefined;
  let stopTimeout: ReturnType<typeof setTimeout> | undefined;

  const stop = async (runId: string): Promise<void> => {
    await new Promise((resolve) => setTimeout(resolve, 0));
    if (!isStopped()) return;
    const url = withQuery(endpoint.url, { threadId, runId });
    const answer = await fetchAgent({ ...endpoint, url }, { method: 'DELETE', keepalive: true });
    await answer.body?.cancel();
  };
  const abort = (): void => request.abort(leave.reason);
  const onLeave = (): void => {
    const wasStopped = isStopped();
    if (response === undefined && wasStopped) {
      stopTimeout = setTimeout(abort, stopTimeoutMs);
      return;
    }
    abort();
    const runId = response && readDurableRunId(response);
    if (runId !== undefined && wasStopped) stop(runId).catch(() => undefined);
  };

  if (leave.aborted) abort();
  leave.addEventListener('abort', onLeave, { once: true });
  try {
    const url = query ? withQuery(endpoint.url, query) : endpoint.url;
    response = await fetchAgent({ ...endpoint, url }, { ...init, signal: request.signal });
  } catch (error) {
    leave.removeEventListener('abort', onLeave);
    throw error;
  } finally {
    clearTimeout(stopTimeout);
  }
  if (leave.aborted) onLeave();
  return response;
}

/** Returns the id of a durable run, which continues when its reader leaves. Undefined for other responses. */
export function readDurableRunId(response: Response): string | undefined {
  const { runId, messageId } = readRunHeaders(response);
  return messageId === undefined ? undefined : runId;
}

/** Adds parameters to a URL, which may be relative. */
function withQuery(url: string, parameters: Record<string, string>): string {
  const [base] = url.split('#', 1) as [string];
  return `${base}${base.includes('?') ? '&' : '?'}${new URLSearchParams(parameters)}`;
}
