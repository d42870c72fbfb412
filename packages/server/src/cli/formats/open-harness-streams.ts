import type { AgentEvent, Codec, Dialect } from '@intertie/core';
import type { Checker } from '@intertie/core/internal';
import {
  createOpenHarnessServerDecoder,
  openHarnessDialect,
  type OpenHarnessServerDecoderOptions,
} from '@intertie/open-harness';
import { asFields, asNonEmptyText } from '@intertie/core/internal';
import { createDecodeOnlyDialect } from './decode-only-dialect.ts';

/** Recognizes session events of an Open Harness server, which can be decoded but have no rules. */
function isSessionEvent(item: unknown): boolean {
  const { name, payload } = asFields(item);
  return typeof name === 'string' && name.includes(':') && typeof payload === 'object' && payload !== null;
}

function isFlowEvent(item: unknown): boolean {
  const type = asNonEmptyText(asFields(item).type) ?? '';
  return /^(?:flow|node|agent|edge|loop|state|command|recording):/.test(type);
}

/** Recognizes both kinds by name only: recorded events may lack fields, such as the time. */
export const looksLikeOpenHarness = (item: unknown): boolean => isFlowEvent(item) || isSessionEvent(item);

const sessions = createDecodeOnlyDialect({
  name: openHarnessDialect.name,
  detect: isSessionEvent,
  getKind: (item) => asNonEmptyText(asFields(item).name) ?? 'no name',
  decoder: (run, onLoss) => createOpenHarnessServerDecoder(run, { onLoss } satisfies OpenHarnessServerDecoderOptions),
});

/** Combines flow events of a runtime and session events of a server under one name. The first item selects the kind. */
export const openHarnessStreams: Dialect = {
  name: openHarnessDialect.name,
  rules: [...openHarnessDialect.rules.filter(({ id }) => id !== 'end'), ...sessions.rules],
  detect: looksLikeOpenHarness,
  getKind: (item) => (isSessionEvent(item) ? sessions : openHarnessDialect).getKind(item),
  checker: () => {
    let checker: Checker | undefined;
    const getChecker = (item?: unknown): Checker =>
      (checker ??= (isSessionEvent(item) ? sessions : openHarnessDialect).checker());
    return {
      feed: (item, report) => getChecker(item).feed(item, report),
      end: (report) => getChecker().end(report),
    };
  },
  decoder: (run, onLoss) => {
    let decoder: Codec<unknown, AgentEvent> | undefined;
    const getDecoder = (item?: unknown): Codec<unknown, AgentEvent> =>
      (decoder ??= (isSessionEvent(item) ? sessions : openHarnessDialect).decoder!(run, onLoss));
    return {
      feed: (item, emit) => getDecoder(item).feed(item, emit),
      end: (end, emit) => getDecoder().end(end, emit),
    };
  },
};
