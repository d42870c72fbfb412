/**
 * Exit code of a command. 0: success. 1: failure, or a violation was found. 2: invalid arguments. 3: unreadable input.
 */
export type ExitCode = 0 | 1 | 2 | 3;

/** Ends a command with a message for users and a code for programs. No stack trace is shown. */
export class CommandFailure extends Error {
  override readonly name = 'CommandFailure';
  /** Stable code in kebab-case. */
  readonly code: string;
  /** Instruction that solves the problem. */
  readonly fix: string | undefined;
  readonly exitCode: ExitCode;

  constructor(failure: { code: string; message: string; fix?: string; exitCode?: ExitCode; cause?: unknown }) {
    super(failure.message, failure.cause === undefined ? undefined : { cause: failure.cause });
    this.code = failure.code;
    this.fix = failure.fix;
    this.exitCode = failure.exitCode ?? 1;
  }
}
