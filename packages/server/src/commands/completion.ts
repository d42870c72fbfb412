import type { Command as Program } from 'commander';
import { completionScript, shells, type CompletedCommand } from '../cli/completion.ts';
import type { Command } from './command.ts';
import { addExamples } from './tool-options.ts';

export const completionCommand: Command = (program, terminal) => {
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
  command.action((shell: string) => terminal.out(completionScript(shell, program.commands.map(toCompleted)).trimEnd()));
};

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
