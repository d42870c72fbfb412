import type { Checker, Report } from '@intertie/core/internal';
import type { ModelMessageRule } from './model-message-rules.ts';
import { providerCallId } from '../shared/provider-call-ids.ts';
import { isFreeText } from './model-tool-call.ts';
import { asFields, isFields, toKey, type Fields } from '../shared/read-fields.ts';

const toolName = /^[\w-]{1,64}$/;

type Violate = (rule: ModelMessageRule, message: string, path?: string) => void;
type Call = { state: 'open' | 'approved' | 'settled' };

const partsOf: ReadonlyMap<unknown, ReadonlySet<unknown>> = new Map([
  ['user', new Set(['text', 'image', 'file'])],
  [
    'assistant',
    new Set([
      'text',
      'file',
      'reasoning',
      'tool-call',
      'tool-result',
      'tool-approval-request',
      'custom',
      'reasoning-file',
    ]),
  ],
  ['tool', new Set(['tool-result', 'tool-approval-response'])],
]);

/** Reads a history message by message. What is owed at its end is reported there. */
export class ModelMessageChecker implements Checker {
  #spoken = false;
  #lastRole: unknown;
  #calls = new Map<string, Call>();
  /** The calls of the last assistant message, whose results are expected next. */
  #expected = new Set<string>();
  /** The call of each approval that was asked for. */
  #requests = new Map<string, string>();

  feed(item: unknown, report: Report): void {
    const violate: Violate = (rule, message, path) => report.violation(rule, message, path);
    const message = asFields(item);
    const { role, content } = message;
    if (role !== 'system' && !partsOf.has(role)) {
      return violate('M0-shape', `The role is ${named(role)}; it is one of system, user, assistant, tool.`, 'role');
    }
    const isText = typeof content === 'string';
    if (role === 'system' ? !isText : role === 'tool' ? !Array.isArray(content) : !isText && !Array.isArray(content)) {
      return violate('M0-shape', `The content of a ${toKey(role)} message cannot be ${kindOf(content)}.`, 'content');
    }
    const parts = Array.isArray(content) ? content.map(asFields) : [];
    this.#order(role, violate);
    if (isText ? content.trim() === '' : parts.length === 0) {
      violate('M3-empty', `The ${toKey(role)} message says nothing.`, 'content');
    }
    for (const [index, part] of parts.entries()) {
      this.#part(role, part, [parts[index - 1], parts[index + 1]], `content[${index}]`, violate);
    }
    if (role === 'assistant' && parts.at(-1)?.type === 'reasoning') {
      violate('M6-reasoning', 'The message ends with reasoning.', `content[${parts.length - 1}]`);
    }
    this.#lastRole = role;
  }

  end(report: Report): void {
    if (this.#lastRole === 'assistant') report.violation('M2-last', 'The last message is the assistant’s.');
    for (const [id, { state }] of this.#calls) {
      if (state === 'open') report.violation('M5-answered', `The call ${id} has no result.`);
    }
  }

  #order(role: unknown, violate: Violate): void {
    if (role === 'system') {
      if (this.#spoken) violate('M1-system', 'A system message comes after the conversation has begun.');
      return;
    }
    if (!this.#spoken && role !== 'user') violate('M2-first', `The first to speak is the ${toKey(role)}.`);
    this.#spoken = true;
    if (role === 'tool') return;
    for (const id of this.#expected) {
      const call = this.#calls.get(id);
      if (call?.state === 'settled') continue;
      const rule = role === 'user' ? 'M5-answered' : 'M5-next';
      violate(rule, `The ${toKey(role)} speaks before the call ${id} has its result.`);
      if (call) call.state = 'settled';
    }
    this.#expected.clear();
  }

  #part(role: unknown, part: Fields, around: Array<Fields | undefined>, path: string, violate: Violate): void {
    if (!partsOf.get(role)?.has(part.type)) {
      return violate('M0-shape', `A ${toKey(role)} message has no part of type ${named(part.type)}.`, path);
    }
    switch (part.type) {
      case 'text':
        if (typeof part.text !== 'string') violate('M0-shape', 'The text is no string.', `${path}.text`);
        else if (part.text.trim() === '' && !isFields(part.providerOptions) && !isSeparator(part.text, around)) {
          violate('M3-empty', 'The text is empty.', `${path}.text`);
        }
        return;
      case 'image':
      case 'file':
      case 'reasoning-file':
        return file(part, path, violate);
      case 'tool-call':
        return this.#call(part, path, violate);
      case 'tool-result':
        return this.#result(part, path, violate);
      case 'tool-approval-request':
        return this.#request(part, path, violate);
      case 'tool-approval-response':
        return this.#response(part, path, violate);
      default:
        return;
    }
  }

  #call(part: Fields, path: string, violate: Violate): void {
    const id = toKey(part.toolCallId);
    if (typeof part.toolCallId !== 'string' || !providerCallId.test(id)) {
      violate('M4-id', `The id of the call is ${JSON.stringify(part.toolCallId)}.`, `${path}.toolCallId`);
    }
    const isProviders = part.providerExecuted === true;
    // A provider names its own tools as it likes.
    if (typeof part.toolName !== 'string' || (!isProviders && !toolName.test(part.toolName))) {
      violate('M4-name', `The name of the tool is ${JSON.stringify(part.toolName)}.`, `${path}.toolName`);
    }
    const isText = typeof part.input === 'string' && isFreeText(asFields(part.providerOptions));
    if (!isFields(part.input) && !isText) violate('M4-input', `The input is ${kindOf(part.input)}.`, `${path}.input`);
    if (this.#calls.has(id)) return violate('M4-id', `There was a call ${id} before.`, `${path}.toolCallId`);
    this.#calls.set(id, { state: isProviders ? 'approved' : 'open' });
    if (!isProviders) this.#expected.add(id);
  }

  #result(part: Fields, path: string, violate: Violate): void {
    const id = toKey(part.toolCallId);
    const call = this.#calls.get(id);
    if (!call) return violate('M5-orphan', `There is no call ${id} before this result.`, path);
    if (call.state === 'settled') return violate('M5-orphan', `The call ${id} has a result already.`, path);
    call.state = 'settled';
    if (!isFields(part.output) || typeof part.output.type !== 'string') {
      violate('M0-shape', 'The output of a tool says its type: text, json, content, error-text, …', `${path}.output`);
    }
  }

  #request(part: Fields, path: string, violate: Violate): void {
    const id = toKey(part.toolCallId);
    if (!this.#calls.has(id)) violate('M7-approval', `There is no call ${id} to approve.`, path);
    this.#requests.set(toKey(part.approvalId), id);
  }

  #response(part: Fields, path: string, violate: Violate): void {
    const id = this.#requests.get(toKey(part.approvalId));
    if (id === undefined)
      return violate('M7-approval', `Nobody asked for the approval ${toKey(part.approvalId)}.`, path);
    const call = this.#calls.get(id);
    if (call?.state === 'open') call.state = 'approved';
  }
}

/** White space between two texts of which one is marked by its provider: Anthropic's citations have a text each. */
function isSeparator(text: string, around: Array<Fields | undefined>): boolean {
  if (text === '' || around.some((part) => part?.type !== 'text')) return false;
  return around.some((part) => isFields(part?.providerOptions));
}

function file(part: Fields, path: string, violate: Violate): void {
  const data = part.data ?? part.image;
  if (part.type !== 'image' && typeof part.mediaType !== 'string') {
    violate('M8-file', 'The file has no media type.', `${path}.mediaType`);
  }
  if (data === undefined || data === null) violate('M8-file', 'The file has no data.', path);
  else if (typeof data === 'string' && /^(\.{0,2}\/|[\w.-]+\/)[^,]*\.\w+$/.test(data)) {
    violate('M8-file', `The URL ${JSON.stringify(data)} is relative.`, path);
  }
}

function kindOf(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'a list' : typeof value;
}

function named(value: unknown): string {
  return typeof value === 'string' ? JSON.stringify(value) : kindOf(value);
}
