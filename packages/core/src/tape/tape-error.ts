/**
 * Kind of a `TapeError`. `header`: the tape is empty or begins without a header. `version`: written by a newer version. `line`: an
 * invalid item. `oversized`: a line beyond the limit. `torn`: the last line was cut off, as by a crash; earlier lines are complete.
 */
export type TapeErrorType = 'header' | 'version' | 'line' | 'oversized' | 'torn';

/** Invalid line of a tape. Lines are counted from 1. */
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
