import type { EventOf } from '../event/event.ts';
import { omit } from '../json/fields.ts';
import { mergeMeta } from '../event/merge-meta.ts';
import type { AskedQuestion, ToolPart, ToolState } from '../event/message.ts';
import type { Answer } from '../event/part-body.ts';

const rank: Record<ToolState, number> = { 'partial-call': 0, call: 1, result: 2, error: 2, denied: 2 };

/** Whether state `a` comes after state `b`. */
export function isFurther(a: ToolState, b: ToolState): boolean {
  return rank[a] > rank[b];
}

/** Whether a change of state would revert a call. A final result never changes. */
export function isRegression(from: ToolState, to: ToolState): boolean {
  return isSettled(from) ? from !== to : isFurther(from, to);
}

/** Whether a call has its final result. */
export function isSettled(state: ToolState): boolean {
  return rank[state] === 2;
}

/** Error code of an invalid call whose process stopped while its input was streamed. */
export const cutOffCode = 'cut-off';

/** Whether the input of a call is incomplete, so that the call was never made. */
export function isCutOff({ state, invalid, error }: ToolPart): boolean {
  return state === 'partial-call' || (invalid === true && error?.code === cutOffCode);
}

/** Creates the part for the first event of a call: the start of a streamed input, or the complete call. */
export function createToolPart(event: EventOf<'tool-input-start' | 'tool-call'>): ToolPart {
  if (event.type === 'tool-input-start') {
    const call = omit(event, 'type', 'at', 'origin');
    return { type: 'tool-invocation', ...call, state: 'partial-call', argsText: '' };
  }
  const { input, invalid, ...call } = omit(event, 'type', 'at', 'origin');
  const part: ToolPart = { type: 'tool-invocation', ...call, state: 'call', args: input };
  if (invalid) Object.assign(part, { invalid: true, error: invalid });
  return part;
}

/** Completes a streamed call. Fields of `tool-input-start` win; the call adds the missing ones. */
export function completeCall(part: ToolPart, event: EventOf<'tool-call'>): void {
  const known = omit(part, 'argsText', 'state');
  const providerMetadata = mergeMeta(part.providerMetadata, event.providerMetadata);
  delete part.argsText;
  Object.assign(part, createToolPart(event));
  for (const [key, value] of Object.entries(known)) if (value !== undefined) Object.assign(part, { [key]: value });
  if (providerMetadata) part.providerMetadata = providerMetadata;
}

/** Applies a result. The caller ensures that the call is complete and not settled. */
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

/** Adds an answer to a question. The first answer wins. */
export function withAnswer(question: AskedQuestion, answer: Answer): AskedQuestion {
  return question.answer ? question : { ...question, answer };
}
