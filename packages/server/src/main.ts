import { commands } from './commands/index.ts';
import { runProgram } from './commands/program.ts';

/** Runs the command line with the given arguments and returns the exit code. Called by `bin/intertie.mjs`. */
export function main(args: readonly string[]): Promise<number> {
  return runProgram(args, commands);
}
