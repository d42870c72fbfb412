import type { Codec, Emit } from '../codec/codec.ts';

/** Allows files of some megabytes within one line, and limits the memory for longer ones. */
const DEFAULT_MAX_LENGTH = 16 * 1024 * 1024;

/** Line without its line break. `cut` marks a last line that had none. A line with a `problem` has no text. */
export type Line =
  | { line: number; text: string; cut?: true; problem?: never }
  | { line: number; problem: 'oversized' | 'encoding'; text?: never };

/**
 * Splits text or UTF-8 bytes into lines. Chunks may end anywhere, even within a character, because a line is joined and decoded
 * when it is complete. Linear time: every character is scanned once.
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
      // `slice` copies bytes: the caller may reuse its buffer.
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
