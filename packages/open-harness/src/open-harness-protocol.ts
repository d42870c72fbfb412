import type { AgentEvent, Codec, Protocol } from '@intertie/core';
import {
  asFields,
  asNonEmptyText,
  createDecodingChecker,
  decodingRules,
  getItemType,
  readItemTime,
  toRunIds,
  type Checker,
} from '@intertie/core/internal';
import { createOpenHarnessDecoder } from './decode/decode-open-harness.ts';
import { OpenHarnessChecker } from './decode/flow-checker.ts';
import { openHarnessRules } from './decode/open-harness-rules.ts';
import { protocolName } from './decode/protocol-name.ts';
import { createOpenHarnessServerDecoder } from './server/decode-open-harness-server.ts';

/** Recognizes session events of an Open Harness server, which can be decoded but have no rules. */
function isSessionEvent(item: unknown): boolean {
  const { name, payload } = asFields(item);
  return typeof name === 'string' && name.includes(':') && typeof payload === 'object' && payload !== null;
}

/** By name only: recorded events may lack fields, such as the time. */
const isFlowEvent = (item: unknown): boolean =>
  /^(?:flow|node|agent|edge|loop|state|command|recording):/.test(getItemType(item));

const decodeSession: NonNullable<Protocol['decoder']> = (run, onLoss) =>
  createOpenHarnessServerDecoder(run, { onLoss });
const decodeFlow: NonNullable<Protocol['decoder']> = (run, onLoss) => createOpenHarnessDecoder(run, { onLoss });

/** Flow events of a runtime and session events of a server under one name. The first item selects the kind. */
export const openHarnessProtocol: Protocol = {
  name: protocolName,
  aliases: ['openharness'],
  label: 'Open Harness',
  title: 'the events of an Open Harness flow or session',
  framing: { mediaTypes: ['application/x-ndjson', 'text/event-stream'] },
  rules: [...openHarnessRules.filter(({ id }) => id !== 'end'), ...decodingRules],
  looksLike: (item) => isFlowEvent(item) || isSessionEvent(item),
  getKind: (item) =>
    isSessionEvent(item) ? (asNonEmptyText(asFields(item).name) ?? 'no name') : getItemType(item) || 'no type',
  startsRun: (item) => {
    const { type, name } = asFields(item);
    return type === 'flow:start' || name === 'workflow:started' || name === 'harness:started';
  },
  readRunIds: (item) => toRunIds({ at: asFields(item).timestamp }),
  readTime: (item) => readItemTime(asFields(item).timestamp),
  checker: () => {
    let checker: Checker | undefined;
    const getChecker = (item?: unknown): Checker =>
      (checker ??= isSessionEvent(item)
        ? createDecodingChecker(protocolName, isSessionEvent, decodeSession)
        : new OpenHarnessChecker());
    return {
      feed: (item, report) => getChecker(item).feed(item, report),
      end: (report) => getChecker().end(report),
    };
  },
  items: {
    families: {
      run: ['flow:*', 'workflow:*', 'harness:*'],
      agent: ['node:*', 'agent:*', 'edge:*', 'loop:*', 'phase:*'],
      text: ['agent:text:*', 'text:*'],
      reasoning: ['agent:thinking:*', 'thinking:*'],
      tool: ['agent:tool', 'tool:*'],
      people: ['input:*', 'user:*'],
      data: ['state:*', 'command:*', 'recording:*'],
      notice: ['node:error', 'agent:error', 'harness:error', 'error:*'],
    },
    deltas: ['*:delta'],
  },
  decoder: (run, onLoss) => {
    let decoder: Codec<unknown, AgentEvent> | undefined;
    const getDecoder = (item?: unknown): Codec<unknown, AgentEvent> =>
      (decoder ??= (isSessionEvent(item) ? decodeSession : decodeFlow)(run, onLoss));
    return {
      feed: (item, emit) => getDecoder(item).feed(item, emit),
      end: (end, emit) => getDecoder().end(end, emit),
    };
  },
};
