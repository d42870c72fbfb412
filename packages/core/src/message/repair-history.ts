import { omit } from '../json/fields.ts';
import type { CanonicalMessage, MessagePart, ToolPart } from '../event/message.ts';
import { isCutOff, isSettled } from '../codec/tool-part.ts';

/** One repair, and the message and part it applies to. */
export type Repair = {
  kind:
    | 'partial-call'
    | 'unsettled-call'
    | 'unanswered-question'
    | 'orphan-result'
    | 'merged-result'
    | 'repeated-call'
    | 'empty-text'
    | 'lone-reasoning'
    | 'flat-content'
    | 'empty-message';
  messageId: string;
  id?: string;
  message: string;
};

export type RepairOptions = {
  /** Message that the next run continues. Its open calls and questions stay open. */
  continues?: string;
};

export type RepairedHistory = { messages: CanonicalMessage[]; repairs: Repair[] };

type Report = (repair: Repair) => void;

/**
 * Makes a history acceptable to every provider. A crash or a stop leaves calls without a result, results without a call, partial
 * calls, unanswered questions and empty messages; for any of these a provider rejects the whole conversation. Does not change
 * the given messages, and returns a message that needs no repair as it is.
 */
export function repairHistory(messages: readonly CanonicalMessage[], options: RepairOptions = {}): RepairedHistory {
  const repairs: Repair[] = [];
  const report: Report = (repair) => void repairs.push(repair);
  const merged = mergeToolMessages(messages, report);
  const seen = new Set<string>();
  const kept: CanonicalMessage[] = [];
  for (const message of merged) {
    const continued = message.id === options.continues;
    const parts: MessagePart[] = [];
    const before = getParts(message, report);
    for (const [index, part] of before.entries()) {
      const repaired = isSeparator(before, index) ? part : repairPart(part, message.id, continued, seen, report);
      if (repaired) parts.push(repaired);
    }
    if (!continued) dropLoneReasoning(parts, message.id, report);
    if (parts.some(hasModelContent) || continued) kept.push(withParts(message, parts));
    else report({ kind: 'empty-message', messageId: message.id, message: 'The message is empty; it was omitted.' });
  }
  return { messages: kept, repairs };
}

/** Returns the parts, or the flat text of an imported message as one part. */
function getParts({ id, content }: CanonicalMessage, report: Report): readonly MessagePart[] {
  if (content.parts.length > 0 || !content.content) return content.parts;
  report({ kind: 'flat-content', messageId: id, message: 'The text was read from `content.content`.' });
  return [{ type: 'text', text: content.content }];
}

/** Drops trailing reasoning, which a stop leaves behind while the model is thinking. Providers reject it. */
function dropLoneReasoning(parts: MessagePart[], messageId: string, report: Report): void {
  while (parts.at(-1)?.type === 'reasoning') {
    const { id } = parts.pop()!;
    report({
      kind: 'lone-reasoning',
      messageId,
      ...(id !== undefined && { id }),
      message: 'No content follows the reasoning; it was omitted.',
    });
  }
}

function repairPart(
  part: MessagePart,
  messageId: string,
  continued: boolean,
  seen: Set<string>,
  report: Report,
): MessagePart | undefined {
  switch (part.type) {
    case 'tool-invocation': {
      const { toolCallId: id } = part;
      if (seen.has(id)) {
        report({
          kind: 'repeated-call',
          messageId,
          id,
          message: 'An earlier call has the same id; this one was omitted.',
        });
        return undefined;
      }
      seen.add(id);
      return repairCall(part, messageId, continued, report);
    }
    case 'question': {
      if (part.answer || continued) return part;
      const { questionId } = part;
      report({
        kind: 'unanswered-question',
        messageId,
        id: questionId,
        message: 'The question was not answered; it counts as cancelled.',
      });
      return { ...part, answer: { questionId, cancelled: true } };
    }
    case 'text':
      // Providers reject a whitespace-only block, unless it carries their own metadata.
      if (part.text.trim() !== '' || hasRequiredMetadata(part)) return part;
      report({
        kind: 'empty-text',
        messageId,
        ...(part.id !== undefined && { id: part.id }),
        message: 'The text is empty; it was omitted.',
      });
      return undefined;
    default:
      return part;
  }
}

function repairCall(part: ToolPart, messageId: string, continued: boolean, report: Report): ToolPart | undefined {
  const { toolCallId: id, toolName } = part;
  if (isCutOff(part)) {
    report({ kind: 'partial-call', messageId, id, message: `The call of ${toolName} is incomplete; it was omitted.` });
    return undefined;
  }
  if (isSettled(part.state) || continued) return part;
  const { result, ...call } = omit(part, 'preliminary', 'resultContent');
  const denial = getDenialReason(part);
  if (denial !== undefined) {
    report({ kind: 'unsettled-call', messageId, id, message: `The call of ${toolName} was not approved: ${denial}` });
    return { ...call, state: 'denied', error: { message: denial } };
  }
  report({ kind: 'unsettled-call', messageId, id, message: `The call of ${toolName} has no result.` });
  const message = 'The call was interrupted. Whether the tool has run is not known.';
  return {
    ...call,
    state: 'error',
    error: { message, code: 'unsettled', ...(result !== undefined && { data: result }) },
  };
}

/** Returns why the call was denied, or undefined if it was allowed to run. */
function getDenialReason({ approval }: ToolPart): string | undefined {
  if (!approval) return undefined;
  if (!approval.answer || approval.answer.cancelled) return 'No approval was given.';
  return approval.answer.approved === false ? (approval.answer.reason ?? 'The approval was denied.') : undefined;
}

/** Merges messages of the role `tool`, which imports contain, into the calls of earlier messages. */
function mergeToolMessages(messages: readonly CanonicalMessage[], report: Report): CanonicalMessage[] {
  if (!messages.some(({ role }) => role === 'tool')) return [...messages];
  const kept: CanonicalMessage[] = [];
  const callers = new Map<string, { message: number; part: number }>();
  for (const message of messages) {
    if (message.role === 'tool') {
      for (const part of message.content.parts) mergeResult(part, message.id, kept, callers, report);
      continue;
    }
    for (const [index, part] of message.content.parts.entries()) {
      if (part.type === 'tool-invocation') callers.set(part.toolCallId, { message: kept.length, part: index });
    }
    kept.push(message);
  }
  return kept;
}

function mergeResult(
  part: MessagePart,
  messageId: string,
  kept: CanonicalMessage[],
  callers: Map<string, { message: number; part: number }>,
  report: Report,
): void {
  const location = part.type === 'tool-invocation' ? callers.get(part.toolCallId) : undefined;
  const caller = location && kept[location.message];
  const call = location && caller?.content.parts[location.part];
  if (part.type !== 'tool-invocation' || !location || !caller || call?.type !== 'tool-invocation') {
    const id = part.type === 'tool-invocation' ? part.toolCallId : part.id;
    report({
      kind: 'orphan-result',
      messageId,
      ...(id !== undefined && { id }),
      message: 'No earlier call has this id; the result was omitted.',
    });
    return;
  }
  if (isSettled(call.state)) {
    report({
      kind: 'orphan-result',
      messageId,
      id: part.toolCallId,
      message: 'The call already has a result; this one was omitted.',
    });
    return;
  }
  const outcome = omit(part, 'args', 'argsText');
  const settled: ToolPart = { ...call, ...outcome, toolName: call.toolName };
  kept[location.message] = withParts(caller, caller.content.parts.with(location.part, settled));
  report({
    kind: 'merged-result',
    messageId,
    id: part.toolCallId,
    message: `The result was merged into its call in message ${caller.id}.`,
  });
}

/** Whether the part produces content for the model. */
function hasModelContent(part: MessagePart): boolean {
  switch (part.type) {
    case 'data':
      // Provider-specific content is sent back to that provider.
      return part.name?.startsWith('provider:') ?? false;
    case 'source':
      return false;
    case 'question':
      return part.answer !== undefined && !part.answer.cancelled;
    case 'interjection':
      return part.parts.some(hasModelContent);
    case 'text':
      return part.text.trim() !== '' || hasRequiredMetadata(part);
    default:
      return true;
  }
}

/** Metadata that a provider requires back even with an empty part: Google's signatures, OpenAI's item ids. */
const requiredKeys = ['thoughtSignature', 'signature', 'itemId'];

function hasRequiredMetadata({ providerMetadata = {} }: MessagePart): boolean {
  return Object.values(providerMetadata).some((meta) => requiredKeys.some((key) => Object.hasOwn(meta, key)));
}

/** Whether the part is whitespace between two texts (ignoring sources), which separates their sentences. */
function isSeparator(parts: readonly MessagePart[], index: number): boolean {
  const part = parts[index]!;
  if (part.type !== 'text' || part.text === '' || part.text.trim() !== '') return false;
  return (
    isNonEmptyText(parts.slice(0, index).findLast(isNotSource)) &&
    isNonEmptyText(parts.slice(index + 1).find(isNotSource))
  );
}

function isNotSource({ type }: MessagePart): boolean {
  return type !== 'source';
}

function isNonEmptyText(part: MessagePart | undefined): boolean {
  return part?.type === 'text' && part.text.trim() !== '';
}

function withParts(message: CanonicalMessage, parts: MessagePart[]): CanonicalMessage {
  const before = message.content.parts;
  if (parts.length === before.length && parts.every((part, index) => part === before[index])) return message;
  return { ...message, content: { ...message.content, parts } };
}
