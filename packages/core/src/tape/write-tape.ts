import { transcode, type Codec, type Emit } from '../codec/codec.ts';
import type { OnLoss } from '../json/loss.ts';
import { MAX_OUTER_DEPTH } from '../json/max-depth.ts';
import type { Tape, TapeHeader, TapeItem } from './tape.ts';
import { toJson } from '../json/to-json.ts';

/**
 * Writes a tape as text, a line an item. The header goes out before the first item, on `flush`, or at the end. What JSON
 * cannot say is written as near as possible, and reported.
 */
export function writeTape(header: TapeHeader, onLoss?: OnLoss): Codec<TapeItem, string> {
  const line = (value: TapeHeader | TapeItem): string => `${JSON.stringify(toJson(value, onLoss, MAX_OUTER_DEPTH))}\n`;
  let hasHeader = false;
  const writeHeader = (emit: Emit<string>): void => {
    if (hasHeader) return;
    hasHeader = true;
    emit(line(header));
  };
  return {
    feed(item, emit) {
      writeHeader(emit);
      emit(line(item));
    },
    flush: writeHeader,
    end: (_, emit) => writeHeader(emit),
  };
}

/** A whole tape. What `parseTape` reads out of it is written again byte for byte. */
export function formatTape(tape: Tape, onLoss?: OnLoss): string {
  return transcode(writeTape(tape.header, onLoss), tape.items).join('');
}
