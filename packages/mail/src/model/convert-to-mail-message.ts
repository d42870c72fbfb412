import type {
  LanguageModelV3FilePart,
  LanguageModelV3Message,
  LanguageModelV3Prompt,
  LanguageModelV3ToolResultOutput,
  SharedV3Warning,
} from '@ai-sdk/provider';
import { asFields, asNonEmptyText } from '../shared/fields.ts';
import type { MAILToolResult } from '../client/mail-turn.ts';

export type MAILMessageInput = {
  /** The newest words of the user, behind those of the system. */
  messageBody: string;
  /** The results of the caller's tools, if the prompt ends with them. */
  toolResults: MAILToolResult[];
  warnings: SharedV3Warning[];
};

export interface ConvertToMAILMessageOptions {
  /** Whether the words of the system come first. Default: yes. A task that goes on has them already. */
  includeSystem?: boolean;
  /** Whether all that was said is told, for a task that knows nothing of it. Default: no. */
  transcript?: boolean;
}

/**
 * A prompt as the one message that a swarm takes: the server keeps the conversation, so only what is new is sent. Results of
 * tools count only at the very end, since older ones were sent before.
 */
export function convertToMAILMessage(
  prompt: LanguageModelV3Prompt,
  { includeSystem = true, transcript = false }: ConvertToMAILMessageOptions = {},
): MAILMessageInput {
  const warnings: SharedV3Warning[] = [];
  const warn = (message: string): void => void warnings.push({ type: 'other', message });
  const system = prompt.flatMap((message) => (message.role === 'system' ? [message.content] : []));
  const talk = prompt.filter((message) => message.role !== 'system');
  const words = transcript ? told(talk, warn) : newest(talk, warn);
  const messageBody = [...(includeSystem ? system : []), words].filter((text) => text !== '').join('\n\n');
  return { messageBody, toolResults: trailingResults(talk, warn), warnings };
}

type Warn = (message: string) => void;

/** All user messages behind the last answer. */
function newest(talk: LanguageModelV3Message[], warn: Warn): string {
  const start = talk.findLastIndex(({ role }) => role !== 'user') + 1;
  return talk
    .slice(start)
    .map((message) => textOf(message, warn))
    .join('\n\n');
}

function told(talk: LanguageModelV3Message[], warn: Warn): string {
  const last = talk.at(-1);
  const before = last?.role === 'user' ? talk.slice(0, -1) : talk;
  const lines = before.flatMap((message) => {
    const text = textOf(message, warn);
    return text === '' ? [] : [`${names[message.role]}: ${text}`];
  });
  if (lines.length === 0) return last ? textOf(last, warn) : '';
  const now = last?.role === 'user' ? `The user now says:\n${textOf(last, warn)}` : 'Go on from here.';
  return `What was said so far:\n${lines.join('\n')}\n\n${now}`;
}

const names = { system: 'System', user: 'User', assistant: 'Assistant', tool: 'Tool' } as const;

function textOf(message: LanguageModelV3Message, warn: Warn): string {
  if (message.role === 'system') return message.content;
  return message.content
    .flatMap((part) => {
      switch (part.type) {
        case 'text':
          return [part.text];
        case 'file':
          return [fileReference(part, warn)];
        case 'tool-call':
          return [`(${part.toolName} ${JSON.stringify(part.input)})`];
        case 'tool-result':
          return [`(${part.toolName} gave ${outputText(part.output, warn)})`];
        default:
          return [];
      }
    })
    .join('\n');
}

/** Agents of a swarm read text. A file is at least named, and where it has an address, that is told. */
function fileReference({ filename, mediaType, data }: LanguageModelV3FilePart, warn: Warn): string {
  const name = filename ?? 'a file';
  warn(`MAIL carries text alone: ${name} (${mediaType}) is only mentioned. Put its content or a link into the text.`);
  const where = data instanceof URL && data.protocol !== 'data:' ? ` at ${data.href}` : '';
  return `[file: ${name}, ${mediaType}${where}]`;
}

function trailingResults(talk: LanguageModelV3Message[], warn: Warn): MAILToolResult[] {
  const start = talk.findLastIndex(({ role }) => role !== 'tool') + 1;
  const calls = new Map<string, string>();
  const caller = talk[start - 1];
  for (const part of caller?.role === 'assistant' ? caller.content : []) {
    if (part.type !== 'tool-call' || part.providerExecuted) continue;
    // A call whose id was taken has another one on our side.
    calls.set(part.toolCallId, asNonEmptyText(asFields(part.providerOptions?.mail).callId) ?? part.toolCallId);
  }
  return talk.slice(start).flatMap((message) => {
    if (message.role !== 'tool') return [];
    return message.content.flatMap((part) => {
      if (part.type !== 'tool-result') {
        warn('A swarm does not ask for approval, so the response to an approval request is not sent.');
        return [];
      }
      const callId = calls.get(part.toolCallId);
      return callId === undefined ? [] : [{ call_id: callId, content: outputText(part.output, warn) }];
    });
  });
}

/** MAIL has no flag for a failure, so the text says it. */
function outputText(output: LanguageModelV3ToolResultOutput, warn: Warn): string {
  switch (output.type) {
    case 'text':
      return output.value;
    case 'json':
      return JSON.stringify(output.value);
    case 'error-text':
      return `Error: ${output.value}`;
    case 'error-json':
      return `Error: ${JSON.stringify(output.value)}`;
    case 'execution-denied':
      return `Error: the call was denied${output.reason ? `: ${output.reason}` : '.'}`;
    case 'content':
      return output.value
        .map((item) => {
          if (item.type === 'text') return item.text;
          warn('MAIL carries text alone: a file in the result of a tool is only mentioned.');
          return `[${item.type}]`;
        })
        .join('\n');
  }
}
