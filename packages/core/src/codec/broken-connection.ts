/**
 * Returns the error of a run whose connection to a remote agent broke: code `truncated`, with the agent and the reason. Other errors
 * are returned unchanged. Clients see the text, so the reason contains no address.
 */
export function nameBrokenConnection(error: unknown, agent: string, hasBegun: boolean): unknown {
  // `fetch` reports a broken response as "terminated", and a request that failed as "fetch failed". The cause has the reason.
  const isBroken = (found: unknown): found is TypeError =>
    found instanceof TypeError && (found.message === 'terminated' || (hasBegun && found.message === 'fetch failed'));
  const broken = [error, (error as Error | undefined)?.cause].find(isBroken);
  if (!broken) return error;
  const { code, message } = (broken.cause ?? {}) as { code?: unknown; message?: unknown };
  const isKnown = typeof code === 'string' && /^(?:UND_ERR|HPE|E[A-Z]+)/.test(code);
  // The message of a refused connection contains the address.
  const reason = !isKnown ? '' : broken.message === 'terminated' ? ` (${String(message)})` : ` (${code})`;
  const text =
    `The connection to the agent "${agent}" broke before its answer was complete${reason}. The output so far is kept. ` +
    'Send the message again.';
  return Object.assign(new Error(text, { cause: error }), { code: 'truncated' });
}
