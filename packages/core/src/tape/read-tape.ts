import { compose, transcode, type Codec, type Emit } from '../codec/codec.ts';
import type { Json } from '../json/json.ts';
import type { OnLoss } from '../json/loss.ts';
import { splitLines, type Line } from './split-lines.ts';
import { TapeError, type TapeErrorType } from './tape-error.ts';
import { TAPE_VERSION, type Tape, type TapeHeader, type TapeItem } from './tape.ts';

/** Line of a tape. After an error in an item the next line is read; after an error in the header nothing is. */
export type TapeLine =
  | { type: 'header'; header: TapeHeader }
  | { type: 'item'; item: TapeItem }
  | { type: 'error'; error: TapeError };

export interface ReadTapeOptions {
  /** Maximum length of a line, in characters for text and in bytes for binary input. Default: 16 Mi. */
  maxLineLength?: number;
}

/** Reads a tape from text or UTF-8 bytes in any chunks. Accepts CRLF, blank lines and a byte order mark. */
export function readTape({ maxLineLength }: ReadTapeOptions = {}): Codec<string | Uint8Array, TapeLine> {
  return compose(splitLines(maxLineLength), readLines());
}

/** Parses a complete tape. Throws the first `TapeError`, except for a torn last line, which is reported and omitted. */
export function parseTape(text: string | Uint8Array, onLoss?: OnLoss): Tape {
  let header: TapeHeader | undefined;
  const items: TapeItem[] = [];
  for (const line of transcode(readTape({ maxLineLength: Infinity }), [text])) {
    if (line.type === 'header') header = line.header;
    else if (line.type === 'item') items.push(line.item);
    else if (line.error.type !== 'torn') throw line.error;
    else onLoss?.({ kind: 'repaired', what: `line ${line.error.line}`, why: line.error.message });
  }
  return { header: header as TapeHeader, items };
}

function readLines(): Codec<Line, TapeLine> {
  let state: 'header' | 'items' | 'failed' = 'header';

  const fail = (error: TapeError, emit: Emit<TapeLine>): void => {
    state = 'failed';
    emit({ type: 'error', error });
  };

  return {
    feed(line, emit) {
      if (state === 'failed' || line.text?.trim() === '') return;
      if (state === 'header') {
        const header = parseHeader(line);
        if (header instanceof TapeError) return fail(header, emit);
        state = 'items';
        emit({ type: 'header', header });
      } else {
        const item = parseItem(line);
        emit(item instanceof TapeError ? { type: 'error', error: item } : { type: 'item', item });
      }
    },
    end(_, emit) {
      if (state === 'header') fail(new TapeError('header', 1, 'the tape is empty.'), emit);
    },
  };
}

function parseHeader(line: Line): TapeHeader | TapeError {
  const value = parseObject(line, 'header');
  if (value instanceof TapeError) return value;
  const { tape, dialect } = value as { tape?: Json; dialect?: Json };
  if (typeof tape === 'number' && tape > TAPE_VERSION) {
    const fix = `but this reader supports version ${TAPE_VERSION}. Update @intertie/core to read it.`;
    return new TapeError('version', line.line, `the tape has version ${tape}, ${fix}`);
  }
  if (tape !== TAPE_VERSION || typeof dialect !== 'string') {
    const expected = 'expected a header such as {"tape":1,"dialect":"canonical"}.';
    return new TapeError('header', line.line, `${expected} Is this file a tape?`);
  }
  return value as TapeHeader;
}

function parseItem(line: Line): TapeItem | TapeError {
  const value = parseObject(line, 'line');
  if (value instanceof TapeError) return value;
  const { t, item } = value as { t?: Json; item?: Json };
  if (!Number.isFinite(t) || (t as number) < 0 || item === undefined) {
    return new TapeError('line', line.line, 'expected {"t":<milliseconds>,"item":…}.');
  }
  return value as TapeItem;
}

/** Parses the object in a line, or returns an error of the given type. */
function parseObject(line: Line, type: TapeErrorType): object | TapeError {
  const hint = type === 'header' ? ' Is this file a tape?' : '';
  if (line.text === undefined) {
    if (line.problem === 'encoding') return new TapeError(type, line.line, 'it is not UTF-8.');
    return new TapeError('oversized', line.line, 'it is too long.');
  }
  try {
    const value: unknown = JSON.parse(line.line === 1 ? line.text.replace(/^\ufeff/, '') : line.text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value;
    return new TapeError(type, line.line, `expected a JSON object.${hint}`);
  } catch (error) {
    if (line.cut && type === 'line') return new TapeError('torn', line.line, 'it was cut off and is omitted.');
    return new TapeError(type, line.line, `invalid JSON (${(error as SyntaxError).message}).${hint}`);
  }
}
