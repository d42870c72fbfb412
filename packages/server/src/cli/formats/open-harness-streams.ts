import type { AgentEvent, Codec, Dialect } from '@intertie/core';
import type { Checker } from '@intertie/core/internal';
import {
  createOpenHarnessServerDecoder,
  openHarnessDialect,
  type OpenHarnessServerDecoderOptions,
} from '@intertie/open-harness';
import { asFields, asNonEmptyText } from '@intertie/core/internal';
import { readingDialect } from './reading-dialect.ts';

/** An event of the server of Open Harness, whose sessions are read and have no rules of their own. */
function isSessionEvent(item: unknown): boolean {
  const { name, payload } = asFields(item);
  return typeof name === 'string' && name.includes(':') && typeof payload === 'object' && payload !== null;
}

function isFlowEvent(item: unknown): boolean {
  const type = asNonEmptyText(asFields(item).type) ?? '';
  return /^(?:flow|node|agent|edge|loop|state|command|recording):/.test(type);
}

/** Whether an item may be of either: a wire leaves out what a runtime would not, such as the time. */
export const looksLikeOpenHarness = (item: unknown): boolean => isFlowEvent(item) || isSessionEvent(item);

const sessions = readingDialect({
  name: openHarnessDialect.name,
  detect: isSessionEvent,
  getKind: (item) => asNonEmptyText(asFields(item).name) ?? 'no name',
  decoder: (run, onLoss) => createOpenHarnessServerDecoder(run, { onLoss } satisfies OpenHarnessServerDecoderOptions),
});

/** What a runtime says, or what its server says of a session: two generations under one name, and the first item says which. */
export const openHarnessStreams: Dialect = {
  name: openHarnessDialect.name,
  rules: [...openHarnessDialect.rules.filter(({ id }) => id !== 'end'), ...sessions.rules],
  detect: looksLikeOpenHarness,
  getKind: (item) => (isSessionEvent(item) ? sessions : openHarnessDialect).getKind(item),
  checker: () => {
    let checker: Checker | undefined;
    const ofFirst = (item?: unknown): Checker =>
      (checker ??= (isSessionEvent(item) ? sessions : openHarnessDialect).checker());
    return {
      feed: (item, report) => ofFirst(item).feed(item, report),
      end: (report) => ofFirst().end(report),
    };
  },
  decoder: (run, onLoss) => {
    let decoder: Codec<unknown, AgentEvent> | undefined;
    const ofFirst = (item?: unknown): Codec<unknown, AgentEvent> =>
      (decoder ??= (isSessionEvent(item) ? sessions : openHarnessDialect).decoder!(run, onLoss));
    return {
      feed: (item, emit) => ofFirst(item).feed(item, emit),
      end: (end, emit) => ofFirst().end(end, emit),
    };
  },
};
