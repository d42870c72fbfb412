import { agUi } from '@intertie/ag-ui';
import {
  createFullStreamDecoder,
  createUIMessageStreamDialect,
  isUIMessageChunk,
  modelMessages,
  type UIMessageVersion,
} from '@intertie/ai-sdk';
import { canonical } from '@intertie/conformance';
import { validateEvent } from '@intertie/core';
import { createMAILEncoder, mailDialect } from '@intertie/mail';
import { createCanonicalDecoder, createCanonicalEncoder } from './canonical-codec.ts';
import { asFields, asNonEmptyText, type Fields } from '@intertie/core/internal';
import type { KnownDialect } from './known-dialect.ts';
import { nearest } from '../nearest.ts';
import { looksLikeOpenHarness, openHarnessStreams } from './open-harness-streams.ts';
import { readingDialect } from './reading-dialect.ts';
import { ToolError } from '../tool-error.ts';

const typeOf = (item: unknown): string => asNonEmptyText(asFields(item).type) ?? '';
const getKind = (item: unknown): string => typeOf(item) || 'no type';
const milliseconds = (value: unknown): number | undefined => {
  const time = typeof value === 'string' ? Date.parse(value) : value;
  return typeof time === 'number' && Number.isFinite(time) ? time : undefined;
};
const names = (from: { [name in 'runId' | 'threadId' | 'messageId']?: unknown }): { [name: string]: string } =>
  Object.fromEntries(
    Object.entries(from).filter((entry): entry is [string, string] => asNonEmptyText(entry[1]) !== undefined),
  );

const canonicalStream: KnownDialect = {
  dialect: { ...canonical, decoder: createCanonicalDecoder, encoder: createCanonicalEncoder },
  title: 'Intertie’s own canonical events',
  looksLike: (item) => validateEvent(item) === undefined,
  startsRun: (item) => typeOf(item) === 'run-start',
  endsRun: (item) => typeOf(item) === 'run-end',
  namesOf: (item) => {
    const { type, runId, threadId, messageId, at } = asFields(item);
    const startedAt = milliseconds(at);
    return type === 'run-start' ? { ...names({ runId, threadId, messageId }), ...(startedAt && { startedAt }) } : {};
  },
  timeOf: (item) => milliseconds(asFields(item).at),
};

const agUiEvents: KnownDialect = {
  dialect: agUi,
  title: 'AG-UI events, as CopilotKit and HttpAgent read them',
  looksLike: (item) => /^[A-Z]+(?:_[A-Z]+)*$/.test(typeOf(item)),
  startsRun: (item) => typeOf(item) === 'RUN_STARTED',
  namesOf: (item) => {
    const { type, runId, threadId, timestamp } = asFields(item);
    const startedAt = milliseconds(timestamp);
    return type === 'RUN_STARTED' ? { ...names({ runId, threadId }), ...(startedAt && { startedAt }) } : {};
  },
  timeOf: (item) => milliseconds(asFields(item).timestamp),
};

/** Chunks of a UI message stream and parts of a full stream have types in common; these fields only one of them has. */
const fullStreamFields = ['request', 'warnings', 'response', 'usage', 'totalUsage'];
const uiMessageFields = ['messageId', 'messageMetadata'];
const hasAny = (item: unknown, keys: readonly string[]): boolean => keys.some((key) => key in asFields(item));

function uiMessageChunks(version: UIMessageVersion): KnownDialect {
  return {
    dialect: createUIMessageStreamDialect({ version }),
    title: 'an AI SDK UI message stream, as useChat reads it',
    looksLike: (item) => isUIMessageChunk(item, 7) && !hasAny(item, fullStreamFields),
    startsRun: (item) => typeOf(item) === 'start',
    namesOf: (item) => names({ messageId: asFields(item).messageId }),
    timeOf: () => undefined,
  };
}

const mailFrames: KnownDialect = {
  dialect: { ...mailDialect, encoder: createMAILEncoder },
  title: 'the event stream of a MAIL 1.3 server',
  // Others ping too.
  looksLike: (item) => mailDialect.detect(item) && asFields(item).event !== 'ping',
  startsRun: (item) => {
    const { message } = asFields(asFields(mailData(item).extra_data).full_message);
    return asFields(asFields(message).sender).address_type === 'user';
  },
  endsRun: (item) => /^task_(?:complete|error)$/.test(asNonEmptyText(asFields(item).event) ?? ''),
  namesOf: (item) => {
    const { task_id: threadId, timestamp } = mailData(item);
    const startedAt = milliseconds(timestamp);
    return { ...names({ threadId }), ...(startedAt && { startedAt }) };
  },
  timeOf: (item) => milliseconds(mailData(item).timestamp),
};

function mailData(item: unknown): Fields {
  const { data } = asFields(item);
  if (typeof data !== 'string') return asFields(data);
  try {
    return asFields(JSON.parse(data));
  } catch {
    return {};
  }
}

const openHarness: KnownDialect = {
  dialect: openHarnessStreams,
  title: 'the events of an Open Harness flow or session',
  looksLike: looksLikeOpenHarness,
  startsRun: (item) => {
    const { type, name } = asFields(item);
    return type === 'flow:start' || name === 'workflow:started' || name === 'harness:started';
  },
  namesOf: (item) => {
    const startedAt = milliseconds(asFields(item).timestamp);
    return startedAt === undefined ? {} : { startedAt };
  },
  timeOf: (item) => milliseconds(asFields(item).timestamp),
};

/** What only the full stream has, or has with these fields. */
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
const isFullStreamPart = (item: unknown): boolean => {
  const fields = asFields(item);
  return fullStreamTypes[typeOf(item)]?.every((key) => key in fields) === true && !hasAny(item, uiMessageFields);
};

const fullStream: KnownDialect = {
  dialect: readingDialect({
    name: 'ai-sdk',
    detect: isFullStreamPart,
    getKind,
    decoder: (run, onLoss) => createFullStreamDecoder(run, { onLoss }),
  }),
  title: 'the full stream of the AI SDK (streamText().fullStream)',
  looksLike: (item) => isFullStreamPart(item) && typeOf(item) !== 'ping',
  startsRun: (item) => typeOf(item) === 'start',
  endsRun: (item) => typeOf(item) === 'finish' || typeOf(item) === 'abort',
  namesOf: () => ({}),
  timeOf: () => undefined,
};

const history: KnownDialect = {
  dialect: modelMessages,
  title: 'a history of AI SDK model messages',
  looksLike: (item) => modelMessages.detect(item),
  startsRun: () => false,
  namesOf: () => ({}),
  timeOf: () => undefined,
};

/** Other names under which people look for them. */
const aliases: { readonly [alias: string]: string } = {
  intertie: 'canonical',
  agui: 'ag-ui',
  copilotkit: 'ag-ui',
  ui: 'ui-message-stream',
  usechat: 'ui-message-stream',
  'full-stream': 'ai-sdk',
  'ai-sdk-full-stream': 'ai-sdk',
  openharness: 'open-harness',
  messages: 'model-messages',
};

export interface Dialects {
  all: readonly KnownDialect[];
  /** Throws a `ToolError` that names the nearest one. */
  find(name: string): KnownDialect;
}

/** All dialects; that of the UI message stream for readers of that version. */
export function createDialects(version: UIMessageVersion = 6): Dialects {
  const all = [canonicalStream, agUiEvents, uiMessageChunks(version), mailFrames, openHarness, fullStream, history];
  return {
    all,
    find(name) {
      const wanted = name.toLowerCase();
      const found = all.find(({ dialect }) => dialect.name === (aliases[wanted] ?? wanted));
      if (found) return found;
      const known = all.map(({ dialect }) => dialect.name);
      const near = nearest(name, [...known, ...Object.keys(aliases)]);
      const meant = near === undefined ? '' : ` Did you mean “${aliases[near] ?? near}”?`;
      throw new ToolError('usage', `There is no dialect “${name}”.${meant}`, `The dialects are ${known.join(', ')}.`);
    },
  };
}

export const getDialectName = ({ dialect }: KnownDialect): string => dialect.name;
export const canRead = ({ dialect }: KnownDialect): boolean => dialect.decoder !== undefined;
export const canWrite = ({ dialect }: KnownDialect): boolean => dialect.encoder !== undefined;
