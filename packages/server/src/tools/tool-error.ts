/** What the shell is told. */
export const exitCodes = { ok: 0, found: 1, usage: 2, unreadable: 3 } as const;

/** The tool cannot do what was asked: the question is wrong (`usage`), or what it asks about cannot be read. */
export class ToolError extends Error {
  readonly exitCode: 2 | 3;
  /** What to do about it, in a sentence. */
  readonly fix: string | undefined;

  constructor(kind: 'usage' | 'unreadable', message: string, fix?: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'ToolError';
    this.exitCode = exitCodes[kind];
    this.fix = fix;
  }
}

/** Whoever read our output has left: `… | head`. Nothing is wrong, and nobody is told. */
export class OutputClosed extends Error {
  constructor() {
    super('Nobody reads the output any more.');
    this.name = 'OutputClosed';
  }
}
