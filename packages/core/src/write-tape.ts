import { transcode, type Codec, type Emit } from './codec.ts';
import type { Tape, TapeHeader, TapeItem } from './tape.ts';

/** Writes a tape as text, a line an item. The header goes out before the first item, on `flush`, or at the end. */
export function writeTape(header: TapeHeader): Codec<TapeItem, string> {
  let begun = false;
  const begin = (emit: Emit<string>): void => {
    if (begun) return;
    begun = true;
    emit(`${JSON.stringify(header)}\n`);
  };
  return {
    feed(item, emit) {
      begin(emit);
      emit(`${JSON.stringify(item)}\n`);
    },
    flush: begin,
    end: (_, emit) => begin(emit),
  };
}

/** A whole tape. What `parseTape` reads out of it is written again byte for byte. */
export function formatTape(tape: Tape): string {
  return transcode(writeTape(tape.header), tape.items).join('');
}
