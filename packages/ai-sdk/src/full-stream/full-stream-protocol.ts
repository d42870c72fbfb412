import type { Protocol } from '@intertie/core';
import { createDecodingChecker, decodingRules, getItemType } from '@intertie/core/internal';
import { asFields } from '../shared/read-fields.ts';
import { createFullStreamDecoder } from './decode-full-stream.ts';

/** Types of full stream parts, with their required fields. */
const fullStreamTypes: { readonly [type: string]: ReadonlyArray<string> } = {
  start: [],
  'start-step': ['request'],
  'text-start': ['id'],
  'text-delta': ['id', 'text'],
  'text-end': ['id'],
  'reasoning-start': ['id'],
  'reasoning-delta': ['id', 'text'],
  'reasoning-end': ['id'],
  'tool-input-start': ['id', 'toolName'],
  'tool-input-delta': ['id', 'delta'],
  'tool-input-end': ['id'],
  'tool-call': ['toolCallId', 'toolName', 'input'],
  'tool-result': ['toolCallId', 'toolName', 'output'],
  'tool-error': ['toolCallId', 'error'],
  'tool-output-denied': ['toolCallId', 'toolName'],
  'tool-approval-request': ['approvalId', 'toolCall'],
  'tool-approval-response': ['approvalId'],
  source: ['sourceType'],
  file: ['file'],
  'reasoning-file': ['file'],
  'finish-step': ['finishReason'],
  finish: ['totalUsage'],
  abort: [],
  error: ['error'],
  raw: ['rawValue'],
  custom: ['kind'],
  'steering-message': [],
  ping: [],
};
/** Fields of UI message chunks, which share many types with full stream parts. */
const uiMessageFields = ['messageId', 'messageMetadata'];

function isFullStreamPart(item: unknown): boolean {
  const fields = asFields(item);
  const required = fullStreamTypes[getItemType(item)];
  return required?.every((key) => key in fields) === true && !uiMessageFields.some((key) => key in fields);
}

const name = 'ai-sdk';
const decoder: Protocol['decoder'] = (run, onLoss) => createFullStreamDecoder(run, { onLoss });

/** The full stream of `streamText`. */
export const fullStream: Protocol = {
  name,
  aliases: ['full-stream', 'ai-sdk-full-stream'],
  label: 'AI SDK full stream',
  title: 'the full stream of the AI SDK (streamText().fullStream)',
  framing: { mediaTypes: ['application/x-ndjson'] },
  rules: decodingRules,
  looksLike: (item) => isFullStreamPart(item) && getItemType(item) !== 'ping',
  getKind: (item) => getItemType(item) || 'no type',
  startsRun: (item) => getItemType(item) === 'start',
  endsRun: (item) => getItemType(item) === 'finish' || getItemType(item) === 'abort',
  checker: () => createDecodingChecker(name, isFullStreamPart, decoder),
  decoder,
  items: {
    families: {
      run: ['start', 'finish', 'abort'],
      agent: ['start-step', 'finish-step'],
      text: ['text-*'],
      reasoning: ['reasoning-*'],
      tool: ['tool-*'],
      people: ['tool-approval-*', 'steering-message'],
      data: ['file', 'source', 'raw', 'custom', 'ping'],
      notice: ['error', 'tool-error'],
    },
    deltas: ['*-delta'],
  },
};
