import type { Tape } from '@intertie/core';
import { createProtocolList, type ProtocolList } from '../formats/protocol-list.ts';
import { createItemClock } from './item-clock.ts';
import type { Protocol } from '@intertie/core';
import { openInput } from './open-input.ts';
import { openStream } from './open-stream.ts';
import type { ToolIO } from '../tool-io.ts';

export interface LoadedTape {
  tape: Tape<unknown>;
  known: Protocol;
  /** Whether the stream has no times, so that it is played at an even pace. */
  isPaced: boolean;
}

/** Interval between items without times. */
const paceMs = 25;

/** Loads a tape, or any other recorded stream as a tape. */
export async function loadTape(
  file: string,
  io: ToolIO,
  protocols: ProtocolList = createProtocolList(),
): Promise<LoadedTape> {
  const input = await openInput(file, {}, io);
  const { known, header, batches } = await openStream(input.bytes, { protocols });
  const clock = createItemClock(known, undefined);
  const tape: Tape<unknown> = { header: header ?? { tape: 1, dialect: known.name }, items: [] };
  for await (const batch of batches) {
    for (const entry of batch) {
      if (entry.type !== 'item') continue;
      clock.observe(entry);
      tape.items.push({ t: clock.time(), item: entry.item });
    }
  }
  const isPaced = header === undefined && clock.time() === 0 && tape.items.length > 1;
  if (isPaced) for (const [index, item] of tape.items.entries()) item.t = index * paceMs;
  return { tape, known, isPaced };
}
