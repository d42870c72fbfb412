import { agUi } from '@intertie/ag-ui';
import {
  createFullStreamDecoder,
  createUIMessageStreamDialect,
  isUIMessageChunk,
  modelMessages,
  type UIMessageVersion,
} from '@intertie/ai-sdk';
import { canonical } from '@intertie/conformance';
import { toFault, validateEvent, type AgentEvent, type Codec, type OnLoss, type RunInput } from '@intertie/core';
import { createMAILEncoder, mailDialect } from '@intertie/mail';
import { asFields, asNonEmptyText, CANONICAL, capJson, readEvent, type Fields } from '@intertie/core/internal';
import type { KnownDialect } from './known-dialect.ts';
import { nearest } from '../nearest.ts';
import { looksLikeOpenHarness, openHarnessStreams } from './open-harness-streams.ts';
import { createDecodeOnlyDialect } from './decode-only-dialect.ts';
import { ToolError } from '../tool-error.ts';

const getType = (item: unknown): string => asNonEmptyText(asFields(item).type) ?? '';
const getKind = (item: unknown): string => getType(item) || 'no type';
const parseTime = (value: unknown): number | undefined => {
  const time = typeof value === 'string' ? Date.parse(value) : value;
  return typeof time === 'number' && Number.isFinite(time) ? time : undefined;
};
const pickIds = (from: { [name in 'runId' | 'threadId' | 'messageId']?: unknown }): { [name: string]: string } =>
  Object.fromEntries(
    Object.entries(from).filter((entry): entry is [string, string] => asNonEmptyText(entry[1]) !== undefined),
  );

/** Passes canonical events through. Other values become `raw` events with a notice. */
function createCanonicalDecoder(_run: RunInput, onLoss: OnLoss): Codec<unknown, AgentEvent> {
  return {
    feed(value, emit) {
      let event: AgentEvent;
      try {
        event = readEvent(value);
      } catch (error) {
        emit({ type: 'raw', dialect: CANONICAL, value: capJson(value, undefined, onLoss) });
        emit({ type: 'notice', level: 'warning', code: 'malformed-event', message: toFault(error).message });
        return;
      }
      emit(event);
    },
    end() {},
  };
}

const canonicalStream: KnownDialect = {
  dialect: {
    ...canonical,
    decoder: createCanonicalDecoder,
    encoder: () => ({ feed: (event, emit) => emit(event), end() {} }),
  },
  title: 'canonical events of Intertie',
  looksLike: (item) => validateEvent(item) === undefined,
  startsRun: (item) => getType(item) === 'run-start',
  endsRun: (item) => getType(item) === 'run-end',
  readRunIds: (item) => {
    const { type, runId, threadId, messageId, at } = asFields(item);
    const startedAt = parseTime(at);
    return type === 'run-start' ? { ...pickIds({ runId, threadId, messageId }), ...(startedAt && { startedAt }) } : {};
  },
  readTime: (item) => parseTime(asFields(item).at),
};

const agUiEvents: KnownDialect = {
  dialect: agUi,
  title: 'AG-UI events, as CopilotKit and HttpAgent read them',
  looksLike: (item) => /^[A-Z]+(?:_[A-Z]+)*$/.test(getType(item)),
  startsRun: (item) => getType(item) === 'RUN_STARTED',
  readRunIds: (item) => {
    const { type, runId, threadId, timestamp } = asFields(item);
    const startedAt = parseTime(timestamp);
    return type === 'RUN_STARTED' ? { ...pickIds({ runId, threadId }), ...(startedAt && { startedAt }) } : {};
  },
  readTime: (item) => parseTime(asFields(item).timestamp),
};

/** Fields that distinguish full streams from UI message streams, which share many types. */
const fullStreamFields = ['request', 'warnings', 'response', 'usage', 'totalUsage'];
const uiMessageFields = ['messageId', 'messageMetadata'];
const hasAny = (item: unknown, keys: readonly string[]): boolean => keys.some((key) => key in asFields(item));

function uiMessageChunks(version: UIMessageVersion): KnownDialect {
  return {
    dialect: createUIMessageStreamDialect({ version }),
    title: 'an AI SDK UI message stream, as useChat reads it',
    looksLike: (item) => isUIMessageChunk(item, 7) && !hasAny(item, fullStreamFields),
    startsRun: (item) => getType(item) === 'start',
    readRunIds: (item) => pickIds({ messageId: asFields(item).messageId }),
    readTime: () => undefined,
  };
}

const mailFrames: KnownDialect = {
  dialect: { ...mailDialect, encoder: createMAILEncoder },
  title: 'the event stream of a MAIL 1.3 server',
  // Other protocols send pings too.
  looksLike: (item) => mailDialect.detect(item) && asFields(item).event !== 'ping',
  startsRun: (item) => {
    const { message } = asFields(asFields(mailData(item).extra_data).full_message);
    return asFields(asFields(message).sender).address_type === 'user';
  },
  endsRun: (item) => /^task_(?:complete|error)$/.test(asNonEmptyText(asFields(item).event) ?? ''),
  readRunIds: (item) => {
    const { task_id: threadId, timestamp } = mailData(item);
    const startedAt = parseTime(timestamp);
    return { ...pickIds({ threadId }), ...(startedAt && { startedAt }) };
  },
  readTime: (item) => parseTime(mailData(item).timestamp),
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
  readRunIds: (item) => {
    const startedAt = parseTime(asFields(item).timestamp);
    return startedAt === undefined ? {} : { startedAt };
  },
  readTime: (item) => parseTime(asFields(item).timestamp),
};

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
const isFullStreamPart = (item: unknown): boolean => {
  const fields = asFields(item);
  return fullStreamTypes[getType(item)]?.every((key) => key in fields) === true && !hasAny(item, uiMessageFields);
};

const fullStream: KnownDialect = {
  dialect: createDecodeOnlyDialect({
    name: 'ai-sdk',
    detect: isFullStreamPart,
    getKind,
    decoder: (run, onLoss) => createFullStreamDecoder(run, { onLoss }),
  }),
  title: 'the full stream of the AI SDK (streamText().fullStream)',
  looksLike: (item) => isFullStreamPart(item) && getType(item) !== 'ping',
  startsRun: (item) => getType(item) === 'start',
  endsRun: (item) => getType(item) === 'finish' || getType(item) === 'abort',
  readRunIds: () => ({}),
  readTime: () => undefined,
};

const history: KnownDialect = {
  dialect: modelMessages,
  title: 'a history of AI SDK model messages',
  looksLike: (item) => modelMessages.detect(item),
  startsRun: () => false,
  readRunIds: () => ({}),
  readTime: () => undefined,
};

/** Alternative names of dialects. */
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
  /** Finds a dialect by name or alias. Throws a `ToolError` that suggests the nearest one. */
  find(name: string): KnownDialect;
}

/** Creates all dialects. `version` is the major version of `ai` that reads UI message streams. */
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
      throw new ToolError('usage', `Unknown dialect “${name}”.${meant}`, `Use one of ${known.join(', ')}.`);
    },
  };
}

export const getDialectName = ({ dialect }: KnownDialect): string => dialect.name;
export const canRead = ({ dialect }: KnownDialect): boolean => dialect.decoder !== undefined;
export const canWrite = ({ dialect }: KnownDialect): boolean => dialect.encoder !== undefined;
