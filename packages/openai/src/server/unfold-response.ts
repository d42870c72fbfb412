import type { AgentEvent, CanonicalMessage, MessagePart, Outcome, RunRecord } from '@intertie/core';
import { omit, unfoldContent } from '@intertie/core/internal';

export type Waiting = (Outcome & { outcome: 'paused' })['waitingFor'];
type EndedRun = Pick<RunRecord, 'runId' | 'outcome' | 'endedAt'>;

/**
 * Converts the parts of a stored message that one run wrote to events. A message that was continued holds the parts of several runs,
 * and each run is one response. Calls and questions that a run waited for are open at its end, as its client has read them.
 */
export function unfoldResponse(message: CanonicalMessage, record: EndedRun): AgentEvent[] {
  const { runs = [], parts } = message.content;
  const { runId, outcome = { outcome: 'complete' } } = record;
  const index = runs.findIndex((entry) => entry.runId === runId);
  const run = runs[index];
  const earlier = run ? runs[index - 1] : runs.at(-1);
  const before = earlier?.outcome === 'paused' ? earlier : undefined;
  // Entries of imported messages have no place, so their message is one response.
  const first = before?.parts ?? 0;
  const own = parts.slice(0, run?.parts);
  const visible = run?.outcome === 'paused' ? reopen(own, run.waitingFor) : own;

  const { threadId, id: messageId } = message;
  const events: AgentEvent[] = [{ type: 'run-start', runId, threadId, messageId }];
  if (before && first > 0) {
    const baseline = visible.slice(0, first);
    const content = { format: 2 as const, parts: reopen(baseline, before.waitingFor) };
    events.push({ type: 'message-snapshot', content });
    events.push(...unfoldParts(baseline.filter((part) => isWaitedFor(part, before.waitingFor))).filter(isReply));
  }
  events.push(...unfoldParts(visible.slice(first)));
  const at = record.endedAt?.getTime();
  events.push({ type: 'run-end', ...(run ? omit(run, 'runId', 'parts') : outcome), ...(at !== undefined && { at }) });
  return events;
}

function unfoldParts(parts: MessagePart[]): AgentEvent[] {
  return unfoldContent({ format: 2, parts });
}

function isReply({ type }: AgentEvent): boolean {
  return type === 'answer' || type === 'tool-result';
}

/** Removes the answers and results that a run was still waiting for. */
function reopen(parts: MessagePart[], waitingFor: Waiting): MessagePart[] {
  return parts.map((part): MessagePart => {
    if (!isWaitedFor(part, waitingFor)) return part;
    if (part.type === 'question') return omit(part, 'answer');
    if (part.type !== 'tool-invocation') return part;
    const { approval, ...call } = omit(part, 'result', 'resultContent', 'resultMetadata', 'error', 'preliminary');
    return { ...call, state: 'call', ...(approval && { approval: omit(approval, 'answer') }) };
  });
}

/** Whether a part is one of the calls and questions that a paused run waits for. */
export function isWaitedFor(part: MessagePart, waitingFor: Waiting): boolean {
  return waitingFor.some((waiting) => {
    if (waiting.type === 'tool') return part.type === 'tool-invocation' && part.toolCallId === waiting.toolCallId;
    if (waiting.type !== 'question') return false;
    const asked = part.type === 'tool-invocation' ? part.approval : part.type === 'question' ? part : undefined;
    return asked?.questionId === waiting.questionId;
  });
}
