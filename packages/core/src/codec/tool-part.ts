import type { EventOf } from '../event/event.ts';
import { omit } from '../json/fields.ts';
import { mergeMeta } from '../event/merge-meta.ts';
import type { AskedQuestion, ToolPart, ToolState } from '../event/message.ts';
import type { Answer } from '../event/part-body.ts';

const rank: Record<ToolState, number> = { 'partial-call': 0, call: 1, result: 2, error: 2, denied: 2 };

/** Whether a call in state `a` has come further than one in state `b`. */
export function isFurther(a: ToolState, b: ToolState): boolean {
  return rank[a] > rank[b];
}

/** Whether going from one state to the other would take something back. A final result is final. */
export function takesBack(from: ToolState, to: ToolState): boolean {
  return isSettled(from) ? from !== to : isFurther(from, to);
}

/** Whether a call has its final result. */
export function isSettled(state: ToolState): boolean {
  return rank[state] === 2;
}

/** The part that a call opens, by its streamed input or as a whole. */
export function newToolPart(event: EventOf<'tool-input-start' | 'tool-call'>): ToolPart {
  if (event.type === 'tool-input-start') {
    const call = omit(event, 'type', 'at', 'origin');
    return { type: 'tool-invocation', ...call, state: 'partial-call', argsText: '' };
  }
  const { input, invalid, ...call } = omit(event, 'type', 'at', 'origin');
  const part: ToolPart = { type: 'tool-invocation', ...call, state: 'call', args: input };
  if (invalid) Object.assign(part, { invalid: true, error: invalid });
  return part;
}

/** The input of a streamed call is complete. What `tool-input-start` said stands; the call adds what was not known. */
export function completeCall(part: ToolPart, event: EventOf<'tool-call'>): void {
  const said = omit(part, 'argsText', 'state');
  const providerMetadata = mergeMeta(part.providerMetadata, event.providerMetadata);
  delete part.argsText;
  Object.assign(part, newToolPart(event));
  for (const [key, value] of Object.entries(said)) if (value !== undefined) Object.assign(part, { [key]: value });
  if (providerMetadata) part.providerMetadata = providerMetadata;
}

/** A result arrives. The caller has seen to it that the call is complete and not settled. */
export function settleCall(part: ToolPart, event: EventOf<'tool-result'>): void {
  const metadata = mergeMeta(part.resultMetadata, event.providerMetadata);
  if (metadata) part.resultMetadata = metadata;
  if (event.status === 'ok') {
    part.result = event.output;
    if (event.content) part.resultContent = true;
    else delete part.resultContent;
    if (event.preliminary) part.preliminary = true;
    else {
      delete part.preliminary;
      part.state = 'result';
    }
    return;
  }
  delete part.result;
  delete part.resultContent;
  delete part.preliminary;
  part.state = event.status;
  if (event.status === 'error') part.error = event.error;
  else if (event.reason !== undefined) part.error = { message: event.reason };
}

/** The first answer counts. */
export function answered(question: AskedQuestion, answer: Answer): AskedQuestion {
  return question.answer ? question : { ...question, answer };
}
