import type { RunInput } from '../event/run-input.ts';
import type { Probe } from './protocol.ts';

/**
 * Checks the server of a remote agent with a request that starts no run. Any response shows that the server runs, except of a proxy
 * without it, a refusal of the credentials, and the statuses in `missing`, with which a server answers for an unknown path.
 */
export async function probeAddress(
  url: string,
  send: () => Promise<Response>,
  missing: readonly number[] = [],
): Promise<Probe> {
  const response = await send();
  const { status } = response;
  await response.body?.cancel();
  const { host } = new URL(url);
  if (status === 401 || status === 403) {
    const next = 'Correct the headers or the key of the agent in the configuration.';
    return { isFine: false, found: `${host} refuses the credentials (status ${status})`, next };
  }
  if (status >= 502 && status <= 504) {
    return { isFine: false, found: `${host} does not reach its server (status ${status})`, next: 'Start the runtime.' };
  }
  if (missing.includes(status)) {
    const next = 'Correct the path of its URL in the configuration.';
    return { isFine: false, found: `${host} has no agent at this path (status ${status})`, next };
  }
  return { isFine: true, found: `${host} answers (status ${status})` };
}

/** Creates the run of a probe, for headers that depend on the run. It has no principal. */
export function createProbeRun(): RunInput {
  const id = 'probe';
  return { runId: id, threadId: id, messageId: id, startedAt: 0, history: [], answers: [], tools: [], context: [] };
}
