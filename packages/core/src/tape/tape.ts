import type { Json } from '../json/json.ts';

/**
 * Recorded stream of one protocol with its times, stored as `.jsonl`. The first line is the header. Every other line is an item with
 * its time in milliseconds after the start:
 *
 *     {"tape":1,"dialect":"canonical","createdAt":"2026-01-31T12:00:00.000Z","title":"Two approvals"}
 *     {"t":0,"item":{"type":"run-start","runId":"r1","threadId":"t1","messageId":"m1"}}
 *     {"t":12,"item":{"type":"text-start","id":"r1:0"}}
 *
 * `dialect` is the protocol of the items: `canonical`, or that of a source. Unknown fields are preserved in the header and in the
 * lines. A change of the meaning of a line requires a new version number.
 */
export interface Tape<Item = Json> {
  header: TapeHeader;
  items: Array<TapeItem<Item>>;
}

export type TapeHeader = { tape: 1; dialect: string; createdAt?: string; [field: string]: Json | undefined };

/** Item of a tape. `t` is in milliseconds after the start. */
export type TapeItem<Item = Json> = { t: number; item: Item };

/** Protocol of tapes that hold `AgentEvent`s. */
export const CANONICAL = 'canonical';
export const TAPE_VERSION = 1;
