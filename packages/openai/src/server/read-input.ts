import type { Json, MessagePart, OnLoss } from '@intertie/core';
import { asFields, asNonEmptyText, asText, defined, isFields, type Fields } from '@intertie/core/internal';
import { OpenAIRequestError } from './openai-error.ts';

/** Result of a client tool, or the answer to a question, under the id that the client has. */
export type Output =
  | { type: 'output'; callId: string; text: string; content?: MessagePart[] }
  | { type: 'approval'; id: string; approved: boolean; reason?: string };

/** One turn of a conversation: a user message, and the answer to it as far as the client sent it. */
export type Turn = { user: MessagePart[]; assistant: string[]; outputs: Output[]; hasCalls: boolean };

/** Conversation that a client sent, in either API. */
export type Conversation = { turns: Turn[]; instructions: string[] };

/** Messages with the role of the user that Codex writes itself, before the first message of the user. */
const injectedText = /^\s*(?:<environment_context>|<user_instructions>|# AGENTS\.md instructions)/;

/** Collects the items of a request. Consecutive user messages become one, because a run answers one message. */
class ConversationReader {
  readonly turns: Turn[] = [];
  readonly instructions: string[] = [];
  #onLoss: OnLoss;

  constructor(onLoss: OnLoss = () => undefined) {
    this.#onLoss = onLoss;
  }

  addMessage(role: unknown, content: unknown, param: string): void {
    switch (role) {
      case 'system':
      case 'developer':
        return void this.instructions.push(toPlainText(readParts(content, param)));
      case 'user': {
        const parts = readParts(content, param);
        const text = toPlainText(parts);
        if (injectedText.test(text)) this.instructions.push(text);
        else this.#userTurn().user.push(...parts);
        return;
      }
      case 'assistant': {
        const text = toPlainText(readParts(content, param));
        if (text !== '') this.#turn().assistant.push(text);
        return;
      }
      default:
        throw new OpenAIRequestError(`Invalid value: ${JSON.stringify(role)} is not a role.`, {
          param: `${param}.role`,
        });
    }
  }

  addCall(): void {
    this.#turn().hasCalls = true;
  }

  addOutput(output: Output): void {
    this.#turn().outputs.push(output);
  }

  skip(what: string): void {
    this.#onLoss({ kind: 'unsupported', what, why: 'The history of the server is used instead of this item.' });
  }

  #turn(): Turn {
    return this.turns.at(-1) ?? this.#newTurn();
  }

  #userTurn(): Turn {
    const last = this.turns.at(-1);
    const isUser = last && last.assistant.length === 0 && last.outputs.length === 0 && !last.hasCalls;
    return isUser ? last : this.#newTurn();
  }

  #newTurn(): Turn {
    const turn: Turn = { user: [], assistant: [], outputs: [], hasCalls: false };
    this.turns.push(turn);
    return turn;
  }
}

/** Reads the `input` of a Responses request: a text, or a list of items. */
export function readResponsesInput(input: unknown, onLoss?: OnLoss): Conversation {
  const reader = new ConversationReader(onLoss);
  const items = typeof input === 'string' ? [{ role: 'user', content: input }] : input;
  if (!Array.isArray(items)) {
    throw new OpenAIRequestError('`input` must be a text or a list of items.', { param: 'input' });
  }
  for (const [index, item] of items.entries()) readItem(asFields(item), `input[${index}]`, reader);
  return reader;
}

function readItem(item: Fields, param: string, reader: ConversationReader): void {
  switch (item.type) {
    case undefined:
    case 'message':
      return reader.addMessage(item.role, item.content, param);
    case 'function_call_output':
    case 'custom_tool_call_output': {
      const callId = asNonEmptyText(item.call_id);
      if (callId === undefined) throw new OpenAIRequestError('`call_id` is required.', { param: `${param}.call_id` });
      return reader.addOutput({ type: 'output', callId, ...readOutput(item.output, param) });
    }
    case 'mcp_approval_response': {
      const id = asNonEmptyText(item.approval_request_id) ?? '';
      const reason = asText(item.reason);
      return reader.addOutput({ type: 'approval', id, approved: item.approve === true, ...defined({ reason }) });
    }
    case 'function_call':
    case 'custom_tool_call':
    case 'mcp_approval_request':
      return reader.addCall();
    default:
      return reader.skip(`input item ${String(item.type)}`);
  }
}

/** Reads the `messages` of a chat completion. */
export function readChatMessages(messages: unknown, onLoss?: OnLoss): Conversation {
  if (!Array.isArray(messages) || messages.length === 0) {
    throw new OpenAIRequestError('`messages` must be a list with at least one message.', { param: 'messages' });
  }
  const reader = new ConversationReader(onLoss);
  for (const [index, message] of messages.entries()) {
    const { role, content, tool_call_id: id, tool_calls: calls } = asFields(message);
    const param = `messages[${index}]`;
    if (role === 'tool') {
      const callId = asNonEmptyText(id);
      if (callId === undefined) {
        throw new OpenAIRequestError('`tool_call_id` is required.', { param: `${param}.tool_call_id` });
      }
      reader.addOutput({ type: 'output', callId, ...readOutput(content, param) });
    } else {
      reader.addMessage(role, content ?? '', param);
      if (Array.isArray(calls) && calls.length > 0) reader.addCall();
    }
  }
  return reader;
}

function readOutput(output: unknown, param: string): { text: string; content?: MessagePart[] } {
  if (typeof output === 'string') return { text: output };
  const content = readParts(output, param);
  return { text: toPlainText(content), ...(content.some(({ type }) => type !== 'text') && { content }) };
}

/** Text of the text parts, joined as clients join them. */
export function toPlainText(parts: readonly MessagePart[]): string {
  return parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n');
}

function readParts(content: unknown, param: string): MessagePart[] {
  if (typeof content === 'string') return content === '' ? [] : [{ type: 'text', text: content }];
  if (content === null || content === undefined) return [];
  if (!Array.isArray(content)) {
    throw new OpenAIRequestError('`content` must be a text or a list of parts.', { param: `${param}.content` });
  }
  return content.map((part, index) => readPart(asFields(part), `${param}.content[${index}]`));
}

function readPart(part: Fields, param: string): MessagePart {
  switch (part.type) {
    case 'text':
    case 'input_text':
    case 'output_text':
      return { type: 'text', text: asText(part.text) ?? '' };
    case 'refusal':
      return { type: 'text', text: asText(part.refusal) ?? '' };
    case 'input_image':
    case 'image_url': {
      const { image_url: image } = part;
      return readFile(isFields(image) ? image.url : image, undefined, param);
    }
    case 'input_file':
    case 'file': {
      const { file_data: data, file_url: url, filename } = isFields(part.file) ? part.file : part;
      return readFile(data ?? url, asNonEmptyText(filename), param);
    }
    case 'input_audio': {
      const { data, format } = asFields(part.input_audio);
      return readFile(`data:audio/${asNonEmptyText(format) ?? 'wav'};base64,${asText(data) ?? ''}`, undefined, param);
    }
    default:
      throw new OpenAIRequestError(`Invalid value: ${JSON.stringify(part.type)} is not a type of content.`, { param });
  }
}

/** Reads a file from a data URL, a URL or base64. */
function readFile(value: unknown, filename: string | undefined, param: string): MessagePart {
  const text = asNonEmptyText(value);
  if (text === undefined) {
    const message =
      'Send the file as a data URL or a URL: this server has no files API, so `file_id` is not supported.';
    throw new OpenAIRequestError(message, { param });
  }
  const named = defined({ filename });
  const [, mimeType, data] = /^data:([^;,]+)[^,]*;base64,(.*)$/s.exec(text) ?? [];
  if (data !== undefined && mimeType !== undefined) return { type: 'file', mimeType, data, ...named };
  return /^https?:/.test(text) ? { type: 'file', url: text, ...named } : { type: 'file', data: text, ...named };
}

/** Reads the function tools of either API. Other tools are left to the agent. */
export function readTools(
  tools: unknown,
  onLoss: OnLoss = () => undefined,
): Array<{ name: string; description?: string; inputSchema?: Json }> {
  if (!Array.isArray(tools)) return [];
  return tools.flatMap((tool) => {
    const fields = asFields(tool);
    const { name, description, parameters } = isFields(fields.function) ? fields.function : fields;
    const toolName = asNonEmptyText(name);
    if (fields.type !== 'function' || toolName === undefined) {
      onLoss({ kind: 'unsupported', what: `tool ${String(fields.type)}`, why: 'Only function tools can be offered.' });
      return [];
    }
    const inputSchema = isFields(parameters) ? (parameters as Json) : undefined;
    return [{ name: toolName, ...defined({ description: asNonEmptyText(description), inputSchema }) }];
  });
}
