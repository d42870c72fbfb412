import type { RunRefusedError } from '@intertie/core';
import type { Decision } from '@intertie/core/store';
import { encodeInterrupt } from '../shared/interrupt.ts';

/** A refusal as a client of AG-UI reads it: a status and a body, before any stream begins. */
export function refuseRun({ refusal, status, message, retryAfter }: RunRefusedError): Response {
  const { code } = refusal;
  const open = refusal.code === 'pending' ? openOf(refusal.decisions) : {};
  const headers: HeadersInit = retryAfter === undefined ? {} : { 'retry-after': String(retryAfter) };
  return Response.json({ error: { code, message, ...open } }, { status, headers });
}

/** What a run waits for, in the words of its outcome: so that the client can answer now. */
function openOf(decisions: readonly Decision[]): object {
  const interrupts = decisions.flatMap((open) => ('question' in open ? [encodeInterrupt(open.question)] : []));
  const pendingToolCallIds = decisions.flatMap((open) => (open.kind === 'client-tool' ? [open.toolCallId] : []));
  return { interrupts, pendingToolCallIds };
}
