import { Command, CommanderError } from 'commander';
import { didYouMean } from '../cli/nearest.ts';
import { version } from '../config/version.ts';
import { CommandFailure, type ExitCode } from '../cli/command-failure.ts';
import type { Command as AddCommand, Known } from './command.ts';
import { createTerminal, type Terminal, type TerminalStreams } from '../cli/terminal.ts';

/**
 * Parses the arguments, runs the command and returns the exit code. Never throws: a failure is a message with its fix on
 * stderr, or a JSON object on stdout with `--json`.
 */
export async function runProgram(
  args: readonly string[],
  commands: readonly AddCommand[],
  streams: TerminalStreams = process,
  lists?: Known,
): Promise<ExitCode> {
  const program = new Command('intertie');
  const terminal = createTerminal(streams, () => args.includes('--json'));
  program
    .description('Connects agent runtimes to chat clients. Without a command: intertie serve.')
    .version(version)
    .option('--json', 'write machine-readable JSON')
    .showHelpAfterError('(intertie --help lists all commands)')
    .configureOutput({
      writeOut: (text) => streams.stdout.write(text),
      writeErr: (text) => streams.stderr.write(text),
      getOutHasColors: () => false,
      getErrHasColors: () => false,
    })
    .exitOverride();
  const known =
    lists ?? (args.some((arg) => needLists.test(arg)) ? await loadLists() : { protocols: [], agentKinds: [] });
  for (const add of commands) add(program, terminal, known);
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

async function loadLists(): Promise<Known> {
  const [{ protocols }, { agentKinds }] = await Promise.all([import('../protocols.ts'), import('../agent-kinds.ts')]);
  return { protocols, agentKinds };
}

/** Commands and options that use the lists. Loading them takes a fifth of a second. */
const needLists = /^(?:init|convert|check|record|replay|chat|doctor|completion|help|--help|-h)$/;

const exitCodes = new WeakMap<Command, ExitCode>();

/** Sets the exit code of a command that has already printed its output. */
export function exitWith(command: Command, code: ExitCode): void {
  let root = command;
  while (root.parent) root = root.parent;
  exitCodes.set(root, code);
}

/** Reports a misspelled command. Commander would treat it as an argument of the default command. */
function unknownCommand([first]: readonly string[], program: Command): CommandFailure | undefined {
  if (first === undefined || first.startsWith('-') || first === 'help') return undefined;
  const names = program.commands.map((command) => command.name());
  if (names.includes(first)) return undefined;
  const message = `Unknown command “${first}”.${didYouMean(first, names)}`;
  return new CommandFailure({ code: 'usage', message, fix: 'intertie --help lists all commands.', exitCode: 2 });
}

/** Adds `--json` and the error handling of the program to a command and its subcommands. */
function inherit(command: Command, parent: Command): void {
  command.copyInheritedSettings(parent);
  if (!command.options.some(({ long }) => long === '--json')) command.option('--json', 'write machine-readable JSON');
  for (const sub of command.commands) inherit(sub, command);
}

function report(error: unknown, terminal: Terminal): ExitCode {
  if (error instanceof CommanderError) {
    // Commander reports help and version as errors too, and has already printed the message of an invalid argument.
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

/** Converts an error of another package. Some have a `fix`. */
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
