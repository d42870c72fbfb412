import type { Codec, Emit } from '../codec/codec.ts';

/** Enough for a file of some megabytes inside one line; more is held by nobody's memory. */
const DEFAULT_MAX_LENGTH = 16 * 1024 * 1024;

/** A line without its ending. The last one may be `cut`: it had none. A line with a `problem` has no text. */
export type Line =
  | { line: number; text: string; cut?: true; problem?: never }
  | { line: number; problem: 'oversized' | 'encoding'; text?: never };

/**
 * Lines out of text or UTF-8 bytes, cut anywhere. Every character is looked at once, whatever the chunks; a line is joined
 * and decoded when it is whole, so that a character may be cut too.
 */
export function splitLines(maxLength: number = DEFAULT_MAX_LENGTH): Codec<string | Uint8Array, Line> {
  let decoder = createDecoder();
  let pieces: Array<string | Uint8Array> = [];
  let length = 0;
  let line = 1;

  const append = (piece: string | Uint8Array): void => {
    length += piece.length;
    if (length > maxLength) pieces = [];
    else if (piece.length > 0) pieces.push(piece);
  };

  const emitLine = (emit: Emit<Line>, cut: boolean): void => {
    const held = { pieces, length, line };
    pieces = [];
    length = 0;
    line += 1;
    if (held.length > maxLength) return emit({ line: held.line, problem: 'oversized' });
    let text: string;
    try {
      text = join(held.pieces, decoder);
    } catch {
      decoder = createDecoder();
      return emit({ line: held.line, problem: 'encoding' });
    }
    emit({ line: held.line, text: text.endsWith('\r') ? text.slice(0, -1) : text, ...(cut && { cut }) });
  };

  return {
    feed(chunk, emit) {
      let start = 0;
      for (let end = indexOfNewline(chunk, start); end !== -1; end = indexOfNewline(chunk, start)) {
        append(typeof chunk === 'string' ? chunk.slice(start, end) : chunk.subarray(start, end));
        emitLine(emit, false);
        start = end + 1;
      }
      // A copy, where it is bytes: their owner may use the buffer again.
      append(chunk.slice(start));
    },
    end(_, emit) {
      if (length > 0) emitLine(emit, true);
    },
  };
}

function indexOfNewline(chunk: string | Uint8Array, start: number): number {
  return typeof chunk === 'string' ? chunk.indexOf('\n', start) : chunk.indexOf(0x0a, start);
}

function createDecoder(): TextDecoder {
  return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
}

function join(pieces: Array<string | Uint8Array>, decoder: TextDecoder): string {
  if (pieces.length === 1) return decode(pieces[0]!, decoder, false);
  return pieces.map((piece) => decode(piece, decoder, true)).join('') + decoder.decode();
}

function decode(piece: string | Uint8Array, decoder: TextDecoder, stream: boolean): string {
  return typeof piece === 'string' ? piece : decoder.decode(piece, { stream });
}
