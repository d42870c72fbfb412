/**
 * 0: done. 1: it did not work, or what was checked is not right. 2: the command was called in a way that it does not know.
 * 3: what it was asked about cannot be read.
 */
export type ExitCode = 0 | 1 | 2 | 3;

/** What a command throws to end with a message for people and a code for programs. No stack is shown. */
export class CommandFailure extends Error {
  override readonly name = 'CommandFailure';
  /** Stable, kebab-case. */
  readonly code: string;
  /** What to do about it. */
  readonly fix: string | undefined;
  readonly exitCode: ExitCode;

  constructor(failure: { code: string; message: string; fix?: string; exitCode?: ExitCode; cause?: unknown }) {
    super(failure.message, failure.cause === undefined ? undefined : { cause: failure.cause });
    this.code = failure.code;
    this.fix = failure.fix;
    this.exitCode = failure.exitCode ?? 1;
  }
}
