import { defined, omit } from '../json/fields.ts';
import { mergeMeta } from '../event/merge-meta.ts';
import type { AskedQuestion, PartBase, MessagePart, ReasoningPart, TextPart, ToolPart } from '../event/message.ts';
import { isFurther, isSettled } from '../codec/tool-part.ts';

/** Merges a part that is saved again into the stored one; see `mergeMessage`. */
export function mergePart(stored: MessagePart, incoming: MessagePart): MessagePart {
  if (stored.type === 'text' && incoming.type === 'text') {
    return mergeText(stored, stored.text, incoming, incoming.text);
  }
  if (stored.type === 'reasoning' && incoming.type === 'reasoning') {
    return mergeText(stored, stored.reasoning, incoming, incoming.reasoning);
  }
  if (stored.type === 'tool-invocation' && incoming.type === 'tool-invocation') return mergeCall(stored, incoming);
  if (stored.type === 'question' && incoming.type === 'question') {
    return stored.answer ? withMergedMetadata(stored, incoming, stored) : mergeFields(stored, incoming);
  }
  return { ...getCommonFields(stored), ...withMergedMetadata(incoming, stored, incoming) };
}

/** Returns the longer text with the fields of both. One is a prefix of the other (checked by `findRewrite`). */
function mergeText<Part extends TextPart | ReasoningPart>(
  stored: Part,
  storedText: string,
  incoming: Part,
  incomingText: string,
): Part {
  return incomingText.startsWith(storedText) ? mergeFields(stored, incoming) : mergeFields(incoming, stored);
}

function mergeCall(stored: ToolPart, incoming: ToolPart): ToolPart {
  if (isSettled(stored.state) || isFurther(stored.state, incoming.state)) {
    const part = withMergedMetadata(stored, incoming, stored);
    const resultMetadata = mergeMeta(incoming.resultMetadata, stored.resultMetadata);
    return resultMetadata ? { ...part, resultMetadata } : part;
  }
  // The input text and the preliminary result belong to the earlier state.
  const base = isFurther(incoming.state, stored.state) ? withoutProgress(stored) : stored;
  const merged = mergeFields(base, incoming);
  const resultMetadata = mergeMeta(stored.resultMetadata, incoming.resultMetadata);
  if (resultMetadata) merged.resultMetadata = resultMetadata;
  if (base.argsText !== undefined && !incoming.argsText?.startsWith(base.argsText)) merged.argsText = base.argsText;
  if (stored.approval && incoming.approval) merged.approval = mergeQuestion(stored.approval, incoming.approval);
  return merged;
}

/** A question is answered once. A different question about the same call replaces it. */
function mergeQuestion(stored: AskedQuestion, incoming: AskedQuestion): AskedQuestion {
  if (stored.questionId !== incoming.questionId) return incoming;
  return stored.answer ? stored : { ...stored, ...incoming };
}

function withoutProgress(part: ToolPart): ToolPart {
  return omit(part, 'argsText', 'result', 'resultContent', 'preliminary');
}

/** Merges the fields of both; the later value wins. */
function mergeFields<Part extends MessagePart>(earlier: Part, later: Part): Part {
  return { ...earlier, ...withMergedMetadata(later, earlier, later) };
}

function withMergedMetadata<Part extends MessagePart>(
  part: Part,
  earlier: Part | MessagePart,
  later: Part | MessagePart,
): Part {
  const providerMetadata = mergeMeta(earlier.providerMetadata, later.providerMetadata);
  return providerMetadata ? { ...part, providerMetadata } : part;
}

function getCommonFields(part: PartBase): PartBase {
  const { id, agentId, stepId, to, internal } = part;
  return defined({ id, agentId, stepId, to, internal });
}
