import type { Json } from '../json/json.ts';

/**
 * A tape is a stream of one dialect with its times, kept as `.jsonl`. The first line is the header, every other line is
 * an item and the milliseconds after the beginning at which it came:
 *
 *     {"tape":1,"dialect":"canonical","createdAt":"2026-01-31T12:00:00.000Z","title":"Two approvals"}
 *     {"t":0,"item":{"type":"run-start","runId":"r1","threadId":"t1","messageId":"m1"}}
 *     {"t":12,"item":{"type":"text-start","id":"r1:0"}}
 *
 * `dialect` is the protocol of the items: `canonical`, or that of a source. Fields that we do not know are kept, in the
 * header and beside the items. Whoever changes the meaning of a line raises the number.
 */
export interface Tape<Item = Json> {
  header: TapeHeader;
  items: Array<TapeItem<Item>>;
}

export type TapeHeader = { tape: 1; dialect: string; createdAt?: string; [field: string]: Json | undefined };

export type TapeItem<Item = Json> = { t: number; item: Item };

/** The dialect of tapes that hold `AgentEvent`s. */
export const CANONICAL = 'canonical';
export const TAPE_VERSION = 1;
