import type { Command as Program } from 'commander';
import type { Protocol } from '@intertie/core';
import { completionScript, shells, type CompletedCommand, type OptionValues } from '../cli/completion.ts';
import type { Command } from './command.ts';
import { addExamples, listWith } from './tool-options.ts';

export const completionCommand: Command = (program, terminal, { protocols }) => {
  const command = program
    .command('completion')
    .summary('print a completion script for your shell')
    .description('Prints a script with which a shell completes commands and options.')
    .argument('<shell>', shells.join(', '));
  addExamples(command, [
    ['intertie completion bash >> ~/.bashrc', 'bash:'],
    ['intertie completion zsh > "${fpath[1]}/_intertie"', 'zsh:'],
    ['intertie completion fish > ~/.config/fish/completions/intertie.fish', 'fish:'],
  ]);
  command.action((shell: string) =>
    terminal.out(
      completionScript(shell, program.commands.map(toCompleted), {
        ...listChoices(program),
        ...listValues(protocols),
      }).trimEnd(),
    ),
  );
};

/** Values of options that accept only a few. */
function listValues(protocols: readonly Protocol[]): OptionValues {
  return {
    '--to': listWith(protocols, 'encoder'),
    '--from': listWith(protocols, 'decoder'),
    '--as': protocols.map(({ name }) => name),
    '--format': ['sse', 'ndjson', 'tape'],
    '--input-format': ['sse', 'ndjson', 'tape', 'json'],
    ...Object.fromEntries(
      protocols.flatMap(({ variants }) => (variants ? [[`--${variants.option}`, variants.names]] : [])),
    ),
  };
}

/** Choices of options that declare them. Commands that share a flag share its values. */
function listChoices(program: Program): OptionValues {
  const options = program.commands.flatMap((command) => command.options);
  return Object.fromEntries(
    options.flatMap(({ long, argChoices }) => {
      if (!long || !argChoices) return [];
      return [[long, options.flatMap((option) => (option.long === long ? (option.argChoices ?? []) : []))]];
    }),
  );
}

function toCompleted(command: Program): CompletedCommand {
  return {
    name: command.name(),
    summary: command.summary() || command.description(),
    options: command.options.map(({ short, long, description, required, optional }) => ({
      flags: [long, short].filter((flag) => flag !== undefined && flag !== null),
      summary: description,
      takesValue: required || optional,
    })),
    subcommands: command.commands.map(toCompleted),
  };
}
