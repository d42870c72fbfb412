import type {
  LanguageModelV3FilePart,
  LanguageModelV3Message,
  LanguageModelV3Prompt,
  LanguageModelV3ToolResultOutput,
  SharedV3Warning,
} from '@ai-sdk/provider';
import { asFields, asNonEmptyText } from '../shared/fields.ts';
import type { MAILToolResult } from '../client/mail-request.ts';

export type MAILMessageInput = {
  /** Text of the newest user messages, after the system prompt. */
  messageBody: string;
  /** Results of the caller's tools at the end of the prompt. */
  toolResults: MAILToolResult[];
  warnings: SharedV3Warning[];
};

export interface ConvertToMAILMessageOptions {
  /** Prepends the system prompt. Default: true. A continued task has received it already. */
  includeSystem?: boolean;
  /** Includes the transcript of the conversation, for a new task. Default: false. */
  transcript?: boolean;
}

/**
 * Converts a prompt to one message for a swarm. The server stores the conversation, so only new content is included. Tool
 * results count only at the end of the prompt: earlier ones were sent by an earlier call.
 */
export function convertToMAILMessage(
  prompt: LanguageModelV3Prompt,
  { includeSystem = true, transcript = false }: ConvertToMAILMessageOptions = {},
): MAILMessageInput {
  const warnings: SharedV3Warning[] = [];
  const warn = (message: string): void => void warnings.push({ type: 'other', message });
  const system = prompt.flatMap((message) => (message.role === 'system' ? [message.content] : []));
  const conversation = prompt.filter((message) => message.role !== 'system');
  const userText = transcript ? buildTranscript(conversation, warn) : getNewestUserText(conversation, warn);
  const messageBody = [...(includeSystem ? system : []), userText].filter((text) => text !== '').join('\n\n');
  return { messageBody, toolResults: getTrailingResults(conversation, warn), warnings };
}

type Warn = (message: string) => void;

/** Returns the text of all user messages after the last answer. */
function getNewestUserText(conversation: LanguageModelV3Message[], warn: Warn): string {
  const start = conversation.findLastIndex(({ role }) => role !== 'user') + 1;
  return conversation
    .slice(start)
    .map((message) => toText(message, warn))
    .join('\n\n');
}

function buildTranscript(conversation: LanguageModelV3Message[], warn: Warn): string {
  const last = conversation.at(-1);
  const before = last?.role === 'user' ? conversation.slice(0, -1) : conversation;
  const lines = before.flatMap((message) => {
    const text = toText(message, warn);
    return text === '' ? [] : [`${roleNames[message.role]}: ${text}`];
  });
  if (lines.length === 0) return last ? toText(last, warn) : '';
  const now = last?.role === 'user' ? `The user now says:\n${toText(last, warn)}` : 'Go on from here.';
  return `What was said so far:\n${lines.join('\n')}\n\n${now}`;
}

const roleNames = { system: 'System', user: 'User', assistant: 'Assistant', tool: 'Tool' } as const;

function toText(message: LanguageModelV3Message, warn: Warn): string {
  if (message.role === 'system') return message.content;
  return message.content
    .flatMap((part) => {
      switch (part.type) {
        case 'text':
          return [part.text];
        case 'file':
          return [toFileReference(part, warn)];
        case 'tool-call':
          return [`(${part.toolName} ${JSON.stringify(part.input)})`];
        case 'tool-result':
          return [`(${part.toolName} gave ${toOutputText(part.output, warn)})`];
        default:
          return [];
      }
    })
    .join('\n');
}

/** Mentions a file by name and URL, since agents of a swarm read only text. */
function toFileReference({ filename, mediaType, data }: LanguageModelV3FilePart, warn: Warn): string {
  const name = filename ?? 'a file';
  warn(
    `MAIL transports only text, so ${name} (${mediaType}) is only mentioned. Put its content or a link into the text.`,
  );
  const where = data instanceof URL && data.protocol !== 'data:' ? ` at ${data.href}` : '';
  return `[file: ${name}, ${mediaType}${where}]`;
}

function getTrailingResults(conversation: LanguageModelV3Message[], warn: Warn): MAILToolResult[] {
  const start = conversation.findLastIndex(({ role }) => role !== 'tool') + 1;
  const calls = new Map<string, string>();
  const caller = conversation[start - 1];
  for (const part of caller?.role === 'assistant' ? caller.content : []) {
    if (part.type !== 'tool-call' || part.providerExecuted) continue;
    // Our id differs from the wire id if the vendor repeated one.
    calls.set(part.toolCallId, asNonEmptyText(asFields(part.providerOptions?.mail).callId) ?? part.toolCallId);
  }
  return conversation.slice(start).flatMap((message) => {
    if (message.role !== 'tool') return [];
    return message.content.flatMap((part) => {
      if (part.type !== 'tool-result') {
        warn('A swarm does not request approvals, so the approval response is not sent.');
        return [];
      }
      const callId = calls.get(part.toolCallId);
      return callId === undefined ? [] : [{ call_id: callId, content: toOutputText(part.output, warn) }];
    });
  });
}

/** Converts a tool output to text. MAIL has no error flag, so an error is marked by a prefix. */
function toOutputText(output: LanguageModelV3ToolResultOutput, warn: Warn): string {
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
          warn('MAIL transports only text, so a file in a tool result is only mentioned.');
          return `[${item.type}]`;
        })
        .join('\n');
  }
}
