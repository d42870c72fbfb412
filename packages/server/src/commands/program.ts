import { Command, CommanderError } from 'commander';
import { nearest } from '../cli/nearest.ts';
import { version } from '../config/version.ts';
import { CommandFailure, type ExitCode } from '../cli/command-failure.ts';
import type { Command as AddCommand } from './command.ts';
import { createTerminal, type Terminal, type TerminalStreams } from '../cli/terminal.ts';

/**
 * Reads the arguments, runs the command that they name, and says how the process should exit. It never throws: a failure is
 * one message with the next step on stderr, or one JSON object on stdout with `--json`.
 */
export async function runProgram(
  args: readonly string[],
  commands: readonly AddCommand[],
  streams: TerminalStreams = process,
): Promise<ExitCode> {
  const program = new Command('intertie');
  const terminal = createTerminal(streams, () => args.includes('--json'));
  program
    .description('Connects agent runtimes to chat front ends. Without a command: intertie serve.')
    .version(version)
    .option('--json', 'write JSON, for programs')
    .showHelpAfterError('(intertie --help shows what there is)')
    .configureOutput({
      writeOut: (text) => streams.stdout.write(text),
      writeErr: (text) => streams.stderr.write(text),
      getOutHasColors: () => false,
      getErrHasColors: () => false,
    })
    .exitOverride();
  for (const add of commands) add(program, terminal);
  for (const command of program.commands) inherit(command, program);
  const unknown = unknownCommand(args, program);
  if (unknown) return report(unknown, terminal);
  try {
    await program.parseAsync([...args], { from: 'user' });
    return exitCodes.get(program) ?? 0;
  } catch (error) {
    return report(error, terminal);
  }
}

const exitCodes = new WeakMap<Command, ExitCode>();

/** For a command that has said all itself and has only its exit code left to give. */
export function exitWith(command: Command, code: ExitCode): void {
  let root = command;
  while (root.parent) root = root.parent;
  exitCodes.set(root, code);
}

/** A word that names no command. With a default command, commander would take it for one of that command's arguments. */
function unknownCommand([first]: readonly string[], program: Command): CommandFailure | undefined {
  if (first === undefined || first.startsWith('-') || first === 'help') return undefined;
  const names = program.commands.map((command) => command.name());
  if (names.includes(first)) return undefined;
  const near = nearest(first, names);
  const meant = near === undefined ? '' : ` Did you mean “${near}”?`;
  const fix = 'intertie --help shows what there is.';
  return new CommandFailure({ code: 'usage', message: `There is no command “${first}”.${meant}`, fix, exitCode: 2 });
}

/** Every command knows `--json` and fails the same way, so that none has to say so itself. */
function inherit(command: Command, parent: Command): void {
  command.copyInheritedSettings(parent);
  if (!command.options.some(({ long }) => long === '--json')) command.option('--json', 'write JSON, for programs');
  for (const sub of command.commands) inherit(sub, command);
}

function report(error: unknown, terminal: Terminal): ExitCode {
  if (error instanceof CommanderError) {
    // The help and the version are "errors" too; what is wrong with the arguments has been said by now.
    return error.exitCode === 0 ? 0 : 2;
  }
  const failure = error instanceof CommandFailure ? error : toFailure(error);
  const { code, message, fix, exitCode } = failure;
  if (terminal.json) {
    terminal.out(JSON.stringify({ error: { code, message, ...(fix !== undefined && { fix }) } }));
  } else {
    terminal.err(message);
    if (fix !== undefined) terminal.err(fix);
  }
  return exitCode;
}

/** Other packages throw errors of their own; those that say what to do carry it as `fix`. */
function toFailure(error: unknown): CommandFailure {
  const { message, code, fix } = (error instanceof Error ? error : { message: String(error) }) as {
    message: string;
    code?: unknown;
    fix?: unknown;
  };
  return new CommandFailure({
    code: typeof code === 'string' ? code : 'failed',
    message,
    ...(typeof fix === 'string' && { fix }),
    cause: error,
  });
}
