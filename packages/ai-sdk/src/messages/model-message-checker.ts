import type { Checker, Report } from '@intertie/core/internal';
import type { ModelMessageRule } from './model-message-rules.ts';
import { providerCallId } from '../shared/provider-call-ids.ts';
import { isFreeText } from './model-tool-call.ts';
import { asFields, isFields, toKey, type Fields } from '../shared/read-fields.ts';

const toolName = /^[\w-]{1,64}$/;

type Violate = (rule: ModelMessageRule, message: string, path?: string) => void;
type Call = { state: 'open' | 'approved' | 'settled' };

const allowedParts: ReadonlyMap<unknown, ReadonlySet<unknown>> = new Map([
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

/** Checks a history of model messages against `modelMessageRules`. Missing results are reported at the end. */
export class ModelMessageChecker implements Checker {
  #hasConversation = false;
  #lastRole: unknown;
  #calls = new Map<string, Call>();
  /** Calls of the last assistant message, whose results must follow. */
  #expected = new Set<string>();
  /** Call id of each requested approval. */
  #requests = new Map<string, string>();

  feed(item: unknown, report: Report): void {
    const violate: Violate = (rule, message, path) => report.violation(rule, message, path);
    const message = asFields(item);
    const { role, content } = message;
    if (role !== 'system' && !allowedParts.has(role)) {
      return violate('M0-shape', `The role is ${describe(role)}, not system, user, assistant or tool.`, 'role');
    }
    const isText = typeof content === 'string';
    if (role === 'system' ? !isText : role === 'tool' ? !Array.isArray(content) : !isText && !Array.isArray(content)) {
      return violate('M0-shape', `The content of a ${toKey(role)} message cannot be ${getType(content)}.`, 'content');
    }
    const parts = Array.isArray(content) ? content.map(asFields) : [];
    this.#checkOrder(role, violate);
    if (isText ? content.trim() === '' : parts.length === 0) {
      violate('M3-empty', `The ${toKey(role)} message is empty.`, 'content');
    }
    for (const [index, part] of parts.entries()) {
      this.#checkPart(role, part, [parts[index - 1], parts[index + 1]], `content[${index}]`, violate);
    }
    if (role === 'assistant' && parts.at(-1)?.type === 'reasoning') {
      violate('M6-reasoning', 'The message ends with reasoning.', `content[${parts.length - 1}]`);
    }
    this.#lastRole = role;
  }

  end(report: Report): void {
    if (this.#lastRole === 'assistant') report.violation('M2-last', 'The last message is from the assistant.');
    for (const [id, { state }] of this.#calls) {
      if (state === 'open') report.violation('M5-answered', `The call ${id} has no result.`);
    }
  }

  #checkOrder(role: unknown, violate: Violate): void {
    if (role === 'system') {
      if (this.#hasConversation) violate('M1-system', 'A system message follows the start of the conversation.');
      return;
    }
    if (!this.#hasConversation && role !== 'user') violate('M2-first', `The first message is from the ${toKey(role)}.`);
    this.#hasConversation = true;
    if (role === 'tool') return;
    for (const id of this.#expected) {
      const call = this.#calls.get(id);
      if (call?.state === 'settled') continue;
      const rule = role === 'user' ? 'M5-answered' : 'M5-next';
      violate(rule, `The ${toKey(role)} message comes before the result of call ${id}.`);
      if (call) call.state = 'settled';
    }
    this.#expected.clear();
  }

  #checkPart(role: unknown, part: Fields, neighbors: Array<Fields | undefined>, path: string, violate: Violate): void {
    if (!allowedParts.get(role)?.has(part.type)) {
      return violate('M0-shape', `A ${toKey(role)} message cannot contain ${describe(part.type)} parts.`, path);
    }
    switch (part.type) {
      case 'text':
        if (typeof part.text !== 'string') violate('M0-shape', 'The text is not a string.', `${path}.text`);
        else if (part.text.trim() === '' && !isFields(part.providerOptions) && !isSeparator(part.text, neighbors)) {
          violate('M3-empty', 'The text is empty.', `${path}.text`);
        }
        return;
      case 'image':
      case 'file':
      case 'reasoning-file':
        return checkFile(part, path, violate);
      case 'tool-call':
        return this.#checkCall(part, path, violate);
      case 'tool-result':
        return this.#checkResult(part, path, violate);
      case 'tool-approval-request':
        return this.#checkRequest(part, path, violate);
      case 'tool-approval-response':
        return this.#checkResponse(part, path, violate);
      default:
        return;
    }
  }

  #checkCall(part: Fields, path: string, violate: Violate): void {
    const id = toKey(part.toolCallId);
    if (typeof part.toolCallId !== 'string' || !providerCallId.test(id)) {
      violate('M4-id', `The id of the call is ${JSON.stringify(part.toolCallId)}.`, `${path}.toolCallId`);
    }
    const isProviders = part.providerExecuted === true;
    // Names of provider tools are not restricted.
    if (typeof part.toolName !== 'string' || (!isProviders && !toolName.test(part.toolName))) {
      violate('M4-name', `The name of the tool is ${JSON.stringify(part.toolName)}.`, `${path}.toolName`);
    }
    const isText = typeof part.input === 'string' && isFreeText(asFields(part.providerOptions));
    if (!isFields(part.input) && !isText) violate('M4-input', `The input is ${getType(part.input)}.`, `${path}.input`);
    if (this.#calls.has(id)) return violate('M4-id', `An earlier call has the id ${id}.`, `${path}.toolCallId`);
    this.#calls.set(id, { state: isProviders ? 'approved' : 'open' });
    if (!isProviders) this.#expected.add(id);
  }

  #checkResult(part: Fields, path: string, violate: Violate): void {
    const id = toKey(part.toolCallId);
    const call = this.#calls.get(id);
    if (!call) return violate('M5-orphan', `No earlier call has the id ${id}.`, path);
    if (call.state === 'settled') return violate('M5-orphan', `The call ${id} already has a result.`, path);
    call.state = 'settled';
    if (!isFields(part.output) || typeof part.output.type !== 'string') {
      violate('M0-shape', 'The output of a tool has no type (text, json, content, error-text, …).', `${path}.output`);
    }
  }

  #checkRequest(part: Fields, path: string, violate: Violate): void {
    const id = toKey(part.toolCallId);
    if (!this.#calls.has(id)) violate('M7-approval', `No earlier call has the id ${id}.`, path);
    this.#requests.set(toKey(part.approvalId), id);
  }

  #checkResponse(part: Fields, path: string, violate: Violate): void {
    const id = this.#requests.get(toKey(part.approvalId));
    if (id === undefined)
      return violate('M7-approval', `No earlier request has the approval id ${toKey(part.approvalId)}.`, path);
    const call = this.#calls.get(id);
    if (call?.state === 'open') call.state = 'approved';
  }
}

/** Whether text is white space next to a text with provider metadata: Anthropic splits cited sentences into texts. */
function isSeparator(text: string, neighbors: Array<Fields | undefined>): boolean {
  if (text === '' || neighbors.some((part) => part?.type !== 'text')) return false;
  return neighbors.some((part) => isFields(part?.providerOptions));
}

function checkFile(part: Fields, path: string, violate: Violate): void {
  const data = part.data ?? part.image;
  if (part.type !== 'image' && typeof part.mediaType !== 'string') {
    violate('M8-file', 'The file has no media type.', `${path}.mediaType`);
  }
  if (data === undefined || data === null) violate('M8-file', 'The file has no data.', path);
  else if (typeof data === 'string' && /^(\.{0,2}\/|[\w.-]+\/)[^,]*\.\w+$/.test(data)) {
    violate('M8-file', `The URL ${JSON.stringify(data)} is relative.`, path);
  }
}

function getType(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'an array' : typeof value;
}

function describe(value: unknown): string {
  return typeof value === 'string' ? JSON.stringify(value) : getType(value);
}
