/**
 * `header`: the tape is empty, or its first line is no header. `version`: a newer tape. `line`: a line that is no item.
 * `oversized`: a line beyond the limit. `torn`: the last line was cut off, as by a crash; what came before it is whole.
 */
export type TapeErrorType = 'header' | 'version' | 'line' | 'oversized' | 'torn';

/** What is wrong with a tape, and in which line, counted from 1. */
export class TapeError extends Error {
  override readonly name = 'TapeError';
  readonly type: TapeErrorType;
  readonly line: number;

  constructor(type: TapeErrorType, line: number, message: string) {
    super(`Line ${line} of the tape: ${message}`);
    this.type = type;
    this.line = line;
  }
}
