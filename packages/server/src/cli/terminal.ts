import { styleText } from 'node:util';

type Style = Parameters<typeof styleText>[0];

/** Output of a command. Results go to `out`, progress and errors to `err`. */
export interface Terminal {
  /** Whether `--json` was given. Then `out` contains only JSON. */
  readonly json: boolean;
  /** Whether `out` is a terminal. */
  readonly isInteractive: boolean;
  out(line: string): void;
  err(line: string): void;
  /** Styles text if `out` is a terminal with colours. */
  style(style: Style, text: string): string;
}

export type TerminalStreams = {
  stdout: { write(text: string): unknown; isTTY?: boolean };
  stderr: { write(text: string): unknown; isTTY?: boolean };
  env: { [name: string]: string | undefined };
};

/** Creates the terminal of a process. `json` is a function because it is known only after the arguments are parsed. */
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
