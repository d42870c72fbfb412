import { CommandFailure, type ExitCode } from './command-failure.ts';

/** What the shell is told. */
export const exitCodes = { ok: 0, found: 1, usage: 2, unreadable: 3 } as const;

export type ToolExit = (typeof exitCodes)[keyof typeof exitCodes] & ExitCode;

/** The tool cannot do what was asked: the question is wrong (`usage`), or what it asks about cannot be read. */
export class ToolError extends CommandFailure {
  constructor(kind: 'usage' | 'unreadable', message: string, fix?: string, options: ErrorOptions = {}) {
    super({ code: kind, message, ...(fix !== undefined && { fix }), exitCode: exitCodes[kind], ...options });
  }
}

/** Whoever read our output has left: `… | head`. Nothing is wrong, and nobody is told. */
export class OutputClosed extends Error {
  constructor() {
    super('Nobody reads the output any more.');
    this.name = 'OutputClosed';
  }
}
