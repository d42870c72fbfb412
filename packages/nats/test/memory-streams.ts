import type { RunKey } from '@intertie/core/store';

import { decodeEntry, type StoredEntry } from '../src/entry.ts';
import type { RunStreams } from '../src/run-streams.ts';

export type MemoryStreams = RunStreams & {
  /** Messages of all runs in order of their sequence. */
  readonly messages: Array<{ run: RunKey; text: string; at: number }>;
  /** Number of next writes that are stored, but whose reply is lost. */
  lostReplies: number;
  /** If set, readers see no later sequence, as on a leader that was stopped and has not noticed its successor. */
  visibleUntil: number | undefined;
};

/** The rules of JetStream for the messages of runs, in memory and with faults. */
export function createMemoryStreams(maxPayload = 2 ** 20): MemoryStreams {
  let sequence = 0;
  const listVisible = (run: RunKey): StoredEntry[] =>
    streams.messages
      .filter((each) => each.run === run && each.at <= (streams.visibleUntil ?? Infinity))
      .map(({ text, at }) => decodeEntry(text, at));
  const store = (run: RunKey, text: string): number => {
    if (Buffer.byteLength(text) > maxPayload) throw new Error('maximum payload exceeded');
    streams.messages.push({ run, text, at: ++sequence });
    return sequence;
  };
  const streams: MemoryStreams = {
    messages: [],
    lostReplies: 0,
    visibleUntil: undefined,
    open: async () => undefined,
    maxPayload: () => maxPayload,
    async publish(run, text, after) {
      const last = streams.messages.findLast((each) => each.run === run)?.at ?? 0;
      if (last !== after) return null;
      const at = store(run, text);
      if (streams.lostReplies > 0) {
        streams.lostReplies -= 1;
        throw new Error('timeout');
      }
      return at;
    },
    async publishLast(runs, text, erase) {
      const others = streams.messages.filter((each) => !runs.includes(each.run));
      if (erase) streams.messages.splice(0, Infinity, ...others);
      for (const run of runs) store(run, text);
    },
    loadLast: async (run) => listVisible(run).at(-1) ?? null,
    loadNext: async (run, from) => listVisible(run).find(({ at }) => at >= from) ?? null,
    loadFrom: async (run, from) =>
      listVisible(run)
        .filter(({ at }) => at >= from)
        .slice(0, 3),
  };
  return streams;
}
