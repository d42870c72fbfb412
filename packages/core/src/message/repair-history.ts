import { omit } from '../json/fields.ts';
import type { CanonicalMessage, MessagePart, ToolPart } from '../event/message.ts';
import { isSettled } from '../codec/tool-part.ts';

/** One thing that was mended, and where. */
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
  /** The message that the next run continues: what it waits for stays open. */
  continues?: string;
};

export type RepairedHistory = { messages: CanonicalMessage[]; repairs: Repair[] };

type Report = (repair: Repair) => void;

/**
 * Makes a history acceptable to every provider. What a crash or a stop leaves behind (calls without a result, results
 * without a call, half a call, unanswered questions, empty messages) makes a provider refuse the whole conversation.
 * The messages given are never changed: a message that needs nothing comes back as it is, and the stored truth stays.
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
    const before = partsOf(message, report);
    for (const [index, part] of before.entries()) {
      const mended = isSeparator(before, index) ? part : repairPart(part, message.id, continued, seen, report);
      if (mended) parts.push(mended);
    }
    if (!continued) dropLoneReasoning(parts, message.id, report);
    const whole = withParts(message, parts);
    if (parts.some(isSaid) || continued) kept.push(whole);
    else report({ kind: 'empty-message', messageId: message.id, message: 'It says nothing, and was left out.' });
  }
  return { messages: kept, repairs };
}

/** An import may bring its text flat, and no parts. */
function partsOf({ id, content }: CanonicalMessage, report: Report): readonly MessagePart[] {
  if (content.parts.length > 0 || !content.content) return content.parts;
  report({ kind: 'flat-content', messageId: id, message: 'Its text is taken from `content.content`.' });
  return [{ type: 'text', text: content.content }];
}

/** A stop while the model thinks leaves thoughts that lead to nothing; providers refuse them. */
function dropLoneReasoning(parts: MessagePart[], messageId: string, report: Report): void {
  while (parts.at(-1)?.type === 'reasoning') {
    const { id } = parts.pop()!;
    report({
      kind: 'lone-reasoning',
      messageId,
      ...(id !== undefined && { id }),
      message: 'Nothing follows it; it was left out.',
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
          message: 'A call of this id came before; this one was left out.',
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
        message: 'Nobody answered; it counts as cancelled.',
      });
      return { ...part, answer: { questionId, cancelled: true } };
    }
    case 'text':
      // Providers refuse a block of white space, unless they marked it themselves.
      if (part.text.trim() !== '' || isMarked(part)) return part;
      report({
        kind: 'empty-text',
        messageId,
        ...(part.id !== undefined && { id: part.id }),
        message: 'It was left out.',
      });
      return undefined;
    default:
      return part;
  }
}

function repairCall(part: ToolPart, messageId: string, continued: boolean, report: Report): ToolPart | undefined {
  const { toolCallId: id, toolName } = part;
  if (isSettled(part.state)) return part;
  if (part.state === 'partial-call') {
    report({ kind: 'partial-call', messageId, id, message: `The call of ${toolName} was cut, and was left out.` });
    return undefined;
  }
  if (continued) return part;
  const { result, ...call } = omit(part, 'preliminary', 'resultContent');
  const refusal = refusalOf(part);
  if (refusal !== undefined) {
    report({ kind: 'unsettled-call', messageId, id, message: `The call of ${toolName} was not approved: ${refusal}` });
    return { ...call, state: 'denied', error: { message: refusal } };
  }
  report({ kind: 'unsettled-call', messageId, id, message: `The call of ${toolName} has no result.` });
  const message = 'The call was interrupted. Whether the tool has run is not known.';
  return {
    ...call,
    state: 'error',
    error: { message, code: 'unsettled', ...(result !== undefined && { data: result }) },
  };
}

/** Why a call was never allowed to run, if it was not. */
function refusalOf({ approval }: ToolPart): string | undefined {
  if (!approval) return undefined;
  if (!approval.answer || approval.answer.cancelled) return 'No approval was given.';
  return approval.answer.approved === false ? (approval.answer.reason ?? 'The approval was denied.') : undefined;
}

/** Messages of the role `tool`, which imports bring: their results belong to the call of an earlier message. */
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
  const place = part.type === 'tool-invocation' ? callers.get(part.toolCallId) : undefined;
  const caller = place && kept[place.message];
  const call = place && caller?.content.parts[place.part];
  if (part.type !== 'tool-invocation' || !place || !caller || call?.type !== 'tool-invocation') {
    const id = part.type === 'tool-invocation' ? part.toolCallId : part.id;
    report({
      kind: 'orphan-result',
      messageId,
      ...(id !== undefined && { id }),
      message: 'No call before it has this id; it was left out.',
    });
    return;
  }
  if (isSettled(call.state)) {
    report({
      kind: 'orphan-result',
      messageId,
      id: part.toolCallId,
      message: 'The call has a result; this one was left out.',
    });
    return;
  }
  const outcome = omit(part, 'args', 'argsText');
  const settled: ToolPart = { ...call, ...outcome, toolName: call.toolName };
  kept[place.message] = withParts(caller, caller.content.parts.with(place.part, settled));
  report({
    kind: 'merged-result',
    messageId,
    id: part.toolCallId,
    message: `It was joined to its call in ${caller.id}.`,
  });
}

/** Whether a model is told anything by the part. */
function isSaid(part: MessagePart): boolean {
  switch (part.type) {
    case 'data':
      // A provider's own content goes back to that provider.
      return part.name?.startsWith('provider:') ?? false;
    case 'source':
      return false;
    case 'question':
      return part.answer !== undefined && !part.answer.cancelled;
    case 'interjection':
      return part.parts.some(isSaid);
    case 'text':
      return part.text.trim() !== '' || isMarked(part);
    default:
      return true;
  }
}

/** Metadata that its provider wants back with a part, even an empty one: Google signs it, OpenAI gives it an item id. */
const marks = ['thoughtSignature', 'signature', 'itemId'];

function isMarked({ providerMetadata = {} }: MessagePart): boolean {
  return Object.values(providerMetadata).some((meta) => marks.some((mark) => Object.hasOwn(meta, mark)));
}

/** Whether a part is white space between two texts, which separates their sentences. Sources may stand between them too. */
function isSeparator(parts: readonly MessagePart[], index: number): boolean {
  const part = parts[index]!;
  if (part.type !== 'text' || part.text === '' || part.text.trim() !== '') return false;
  return isSpoken(parts.slice(0, index).findLast(isNoSource)) && isSpoken(parts.slice(index + 1).find(isNoSource));
}

function isNoSource({ type }: MessagePart): boolean {
  return type !== 'source';
}

function isSpoken(part: MessagePart | undefined): boolean {
  return part?.type === 'text' && part.text.trim() !== '';
}

function withParts(message: CanonicalMessage, parts: MessagePart[]): CanonicalMessage {
  const before = message.content.parts;
  if (parts.length === before.length && parts.every((part, index) => part === before[index])) return message;
  return { ...message, content: { ...message.content, parts } };
}
