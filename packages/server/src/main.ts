import { commands } from './commands/index.ts';
import { runProgram } from './commands/program.ts';

/** The command line: what `bin/intertie.mjs` starts. */
export function main(args: readonly string[]): Promise<number> {
  return runProgram(args, commands);
}
