import {
  toFault,
  validateEvent,
  type AgentEvent,
  type Codec,
  type OnLoss,
  type Protocol,
  type RunInput,
} from '@intertie/core';
import { asFields, CANONICAL, capJson, getItemType, readEvent, readItemTime, toRunIds } from '@intertie/core/internal';
import { canonicalRules } from '../rules/canonical-rules.ts';
import { CanonicalChecker } from './canonical-checker.ts';

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

/** Intertie's own event stream as a protocol: one run, from `run-start` to `run-end`. */
export const canonical: Protocol = {
  name: CANONICAL,
  aliases: ['intertie'],
  label: 'Canonical',
  title: 'canonical events of Intertie',
  framing: { mediaTypes: ['application/x-ndjson'] },
  rules: canonicalRules,
  looksLike: (item) => validateEvent(item) === undefined,
  getKind: (item) => getItemType(item) || 'no event',
  startsRun: (item) => getItemType(item) === 'run-start',
  endsRun: (item) => getItemType(item) === 'run-end',
  readRunIds: (item) => {
    const { type, runId, threadId, messageId, at } = asFields(item);
    return type === 'run-start' ? toRunIds({ runId, threadId, messageId, at }) : {};
  },
  readTime: (item) => readItemTime(asFields(item).at),
  checker: () => new CanonicalChecker(),
  decoder: createCanonicalDecoder,
  encoder: () => ({ feed: (event, emit) => emit(event), end() {} }),
  items: {
    families: {
      run: ['run-*', 'message-snapshot', 'metadata'],
      agent: ['agent-*', 'step-*'],
      text: ['text-*'],
      reasoning: ['reasoning-*'],
      tool: ['tool-*'],
      people: ['question', 'answer', 'interjection'],
      data: ['data', 'data-delta', 'state-*', 'file', 'source', 'raw', 'checkpoint'],
      notice: ['notice'],
    },
    deltas: ['*-delta'],
  },
};
