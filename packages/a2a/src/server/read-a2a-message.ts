import { ContentTypeNotSupportedError, RequestMalformedError } from '@a2a-js/sdk/errors';
import type { Answer, Json, MessagePart } from '@intertie/core';
import { asBoolean, asFields, asNonEmptyText, asText, defined, isFields, type Fields } from '@intertie/core/internal';
import type { Decision, ToolAnswer } from '@intertie/core/store';
import type { A2AMessage, A2APart } from '../shared/a2a-types.ts';

const contents = ['text', 'raw', 'url', 'data'] as const;

/** Checks the message of a request. Throws the errors of the specification. */
export function readA2AMessage(params: unknown, inputModes: readonly string[]): A2AMessage {
  const { message } = asFields(params);
  if (!isFields(message)) throw new RequestMalformedError('The request has no message.');
  const { messageId, role, parts } = message;
  if (asNonEmptyText(messageId) === undefined) throw new RequestMalformedError('The message has no messageId.');
  if (role === 'ROLE_AGENT') throw new RequestMalformedError('The role of a message from a client is ROLE_USER.');
  if (!Array.isArray(parts) || parts.length === 0) throw new RequestMalformedError('The message has no parts.');
  for (const [index, part] of parts.entries()) checkPart(asFields(part), index, inputModes);
  return message as unknown as A2AMessage;
}

function checkPart(part: Fields, index: number, inputModes: readonly string[]): void {
  if (contents.filter((name) => part[name] !== undefined).length !== 1) {
    throw new RequestMalformedError(`Part ${index} of the message needs one of ${contents.join(', ')}.`);
  }
  const { text, data, mediaType } = part;
  const implied = text !== undefined ? 'text/plain' : data !== undefined ? 'application/json' : undefined;
  const type = (asNonEmptyText(mediaType) ?? implied)?.split(';', 1)[0]!.trim().toLowerCase();
  if (type === undefined || inputModes.some((mode) => matches(mode, type))) return;
  throw new ContentTypeNotSupportedError(`Part ${index} is ${type}. The agent accepts ${inputModes.join(', ')}.`);
}

function matches(mode: string, type: string): boolean {
  if (mode === '*/*') return /^[\w!#$&^.+-]+\/[\w!#$&^.+-]+$/.test(type);
  return mode.endsWith('/*') ? type.startsWith(mode.slice(0, -1)) : mode === type;
}

/** Converts the parts of a prompt. Models read no data parts, so these become JSON text. */
export function toMessageParts(parts: readonly A2APart[]): MessagePart[] {
  return parts.map((part): MessagePart => {
    const { text, raw, url, data, mediaType: mimeType, filename } = part;
    const file = defined({ mimeType: asNonEmptyText(mimeType), filename: asNonEmptyText(filename) });
    if (text !== undefined) return { type: 'text', text };
    if (raw !== undefined) return { type: 'file', data: raw, ...file };
    if (url !== undefined) return { type: 'file', url, ...file };
    return { type: 'text', text: JSON.stringify(data), providerMetadata: { a2a: { data: true } } };
  });
}

/** Answers of a message by the id of the decision: its data parts with a `questionId`. */
export function readDataAnswers({ parts }: A2AMessage): Map<string, Fields> {
  return new Map(
    parts.flatMap(({ data }) => {
      const id = asNonEmptyText(asFields(data).questionId);
      return id === undefined ? [] : [[id, asFields(data)]];
    }),
  );
}

/** Converts a data part with a `questionId` to an answer. */
export function toAnswer(decision: Decision, fields: Fields): Answer | ToolAnswer {
  const { approved, cancelled, reason, value, output = value, error } = fields;
  if (decision.kind === 'client-tool') {
    const { toolCallId } = decision;
    if (error !== undefined) return { toolCallId, status: 'error', error: { message: toMessage(error) } };
    return { toolCallId, status: 'ok', output: (output ?? null) as Json };
  }
  return {
    questionId: decision.id,
    ...defined({ approved: asBoolean(approved), reason: asNonEmptyText(reason) }),
    ...(value !== undefined && { value: value as Json }),
    ...(cancelled === true && { cancelled }),
  };
}

function toMessage(error: unknown): string {
  return asText(error) ?? asText(asFields(error).message) ?? JSON.stringify(error);
}

/** Converts a plain text to the answer of the only open decision. */
export function toTextAnswer(decision: Decision, text: string): Answer | ToolAnswer {
  if (decision.kind === 'client-tool') return { toolCallId: decision.toolCallId, status: 'ok', output: text };
  const questionId = decision.id;
  const reply = text.trim();
  if (decision.kind === 'input') return { questionId, value: toValue(reply, decision.question.schema) };
  if (/^(?:y|yes|ok|okay|approve|approved)[.!]?$/i.test(reply)) return { questionId, approved: true };
  if (/^(?:n|no|deny|denied)[.!]?$/i.test(reply)) return { questionId, approved: false };
  return { questionId, approved: false, reason: reply };
}

/** Reads JSON if the schema asks for anything but a text. */
function toValue(text: string, schema: Json | undefined): Json {
  const { type } = asFields(schema);
  if (type === undefined || type === 'string') return text;
  try {
    return JSON.parse(text) as Json;
  } catch {
    return text;
  }
}
