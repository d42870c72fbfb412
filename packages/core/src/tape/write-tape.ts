import { transcode, type Codec, type Emit } from '../codec/codec.ts';
import type { OnLoss } from '../json/loss.ts';
import { MAX_OUTER_DEPTH } from '../json/max-depth.ts';
import type { Tape, TapeHeader, TapeItem } from './tape.ts';
import { toJson } from '../json/to-json.ts';

/**
 * Creates a codec that writes a tape as text, one line per item. The header is written before the first item, on `flush`, or at the
 * end. Values that JSON cannot represent are converted to the nearest ones and reported.
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

/** Writes a complete tape. The result of `parseTape` is written back byte for byte. */
export function formatTape(tape: Tape, onLoss?: OnLoss): string {
  return transcode(writeTape(tape.header, onLoss), tape.items).join('');
}
