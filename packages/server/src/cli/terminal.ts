import { styleText } from 'node:util';

type Style = Parameters<typeof styleText>[0];

/** Where a command writes. What a program reads goes to `out`, what a person reads beside it to `err`. */
export interface Terminal {
  /** Whether `--json` was given: then `out` has JSON and nothing else. */
  readonly json: boolean;
  /** Whether a person sits at the other end of `out`. */
  readonly isInteractive: boolean;
  out(line: string): void;
  err(line: string): void;
  /** The text in a style, where `out` is a terminal that shows it. */
  style(style: Style, text: string): string;
}

export type TerminalStreams = {
  stdout: { write(text: string): unknown; isTTY?: boolean };
  stderr: { write(text: string): unknown; isTTY?: boolean };
  env: { [name: string]: string | undefined };
};

/** `json` is a function, since it is known only after the arguments have been read. */
export function createTerminal({ stdout, stderr, env }: TerminalStreams, json: () => boolean): Terminal {
  const isInteractive = stdout.isTTY === true;
  const hasColors = isInteractive && !env['NO_COLOR'] && env['TERM'] !== 'dumb';
  return {
    get json() {
      return json();
    },
    isInteractive,
    out: (line) => void stdout.write(`${line}\n`),
    err: (line) => void stderr.write(`${line}\n`),
    style: (style, text) => (hasColors && !json() ? styleText(style, text, { validateStream: false }) : text),
  };
}
