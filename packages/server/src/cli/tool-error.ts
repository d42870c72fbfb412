import { CommandFailure, type ExitCode } from './command-failure.ts';

/** Exit codes of tools, by reason. */
export const exitCodes = { ok: 0, found: 1, usage: 2, unreadable: 3 } as const;

export type ToolExit = (typeof exitCodes)[keyof typeof exitCodes] & ExitCode;

/** Error of a tool: invalid arguments (`usage`), or an input that cannot be read (`unreadable`). */
export class ToolError extends CommandFailure {
  constructor(kind: 'usage' | 'unreadable', message: string, fix?: string, options: ErrorOptions = {}) {
    super({ code: kind, message, ...(fix !== undefined && { fix }), exitCode: exitCodes[kind], ...options });
  }
}

/** The reader of the output has closed the pipe, as in `… | head`. Ends the command without an error. */
export class OutputClosed extends Error {
  constructor() {
    super('The reader has closed the output.');
    this.name = 'OutputClosed';
  }
}
