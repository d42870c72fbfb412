import { omit } from '../json/fields.ts';
import { mergeMeta } from '../event/merge-meta.ts';
import type { AskedQuestion, PartBase, MessagePart, ReasoningPart, TextPart, ToolPart } from '../event/message.ts';
import { isFurther, isSettled } from '../codec/tool-part.ts';

/** The same part, stored and saved again: see `mergeMessage`. */
export function growPart(stored: MessagePart, incoming: MessagePart): MessagePart {
  if (stored.type === 'text' && incoming.type === 'text') {
    return growText(stored, stored.text, incoming, incoming.text);
  }
  if (stored.type === 'reasoning' && incoming.type === 'reasoning') {
    return growText(stored, stored.reasoning, incoming, incoming.reasoning);
  }
  if (stored.type === 'tool-invocation' && incoming.type === 'tool-invocation') return growCall(stored, incoming);
  if (stored.type === 'question' && incoming.type === 'question') {
    return stored.answer ? withMeta(stored, incoming, stored) : over(stored, incoming);
  }
  return { ...keptOf(stored), ...withMeta(incoming, stored, incoming) };
}

/** The longer text, with the fields of both: one is a prefix of the other (`findRewrite`). */
function growText<Part extends TextPart | ReasoningPart>(
  stored: Part,
  said: string,
  incoming: Part,
  says: string,
): Part {
  return says.startsWith(said) ? over(stored, incoming) : over(incoming, stored);
}

function growCall(stored: ToolPart, incoming: ToolPart): ToolPart {
  if (isSettled(stored.state) || isFurther(stored.state, incoming.state)) {
    const part = withMeta(stored, incoming, stored);
    const resultMetadata = mergeMeta(incoming.resultMetadata, stored.resultMetadata);
    return resultMetadata ? { ...part, resultMetadata } : part;
  }
  // What belongs to a state is over with it: the text of a partial input, a preliminary result.
  const base = isFurther(incoming.state, stored.state) ? withoutProgress(stored) : stored;
  const grown = over(base, incoming);
  const resultMetadata = mergeMeta(stored.resultMetadata, incoming.resultMetadata);
  if (resultMetadata) grown.resultMetadata = resultMetadata;
  if (base.argsText !== undefined && !incoming.argsText?.startsWith(base.argsText)) grown.argsText = base.argsText;
  if (stored.approval && incoming.approval) grown.approval = growQuestion(stored.approval, incoming.approval);
  return grown;
}

/** A question is answered once; another question about the same call takes its place. */
function growQuestion(stored: AskedQuestion, incoming: AskedQuestion): AskedQuestion {
  if (stored.questionId !== incoming.questionId) return incoming;
  return stored.answer ? stored : { ...stored, ...incoming };
}

function withoutProgress(part: ToolPart): ToolPart {
  const rest = omit(part, 'argsText', 'result', 'resultContent', 'preliminary');
  return rest;
}

/** All fields of both, those of the later one first. */
function over<Part extends MessagePart>(earlier: Part, later: Part): Part {
  return { ...earlier, ...withMeta(later, earlier, later) };
}

function withMeta<Part extends MessagePart>(part: Part, earlier: Part | MessagePart, later: Part | MessagePart): Part {
  const providerMetadata = mergeMeta(earlier.providerMetadata, later.providerMetadata);
  return providerMetadata ? { ...part, providerMetadata } : part;
}

function keptOf(part: PartBase): PartBase {
  const { id, agentId, stepId, to, internal } = part;
  return {
    ...(id !== undefined && { id }),
    ...(agentId !== undefined && { agentId }),
    ...(stepId !== undefined && { stepId }),
    ...(to && { to }),
    ...(internal && { internal }),
  };
}
