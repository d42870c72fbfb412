import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { Argument, Option } from 'commander';
import { CommandFailure } from '../cli/command-failure.ts';
import type { Command } from './command.ts';
import { projectFiles } from '../init/project-files.ts';

export const initCommand: Command = (program, terminal, { agentKinds }) => {
  const templates = agentKinds.flatMap(({ template }) => template ?? []);
  const names = templates.map(({ name }) => name);
  program
    .command('init')
    .addArgument(new Argument('[folder]', 'folder of the project').default('.'))
    .description('create a project: an agent that answers without a key, a React page, tests and a Dockerfile')
    .addOption(new Option('--with <kind>', 'first agent of the project').choices(names).default(names[0]))
    .addHelpText(
      'after',
      `
Examples:
  intertie init my-chat --with ${names.at(1)}
  cd my-chat && npm install && npm start`,
    )
    .action((folder: string, options: { with: string }) => {
      const root = resolve(folder);
      const template = templates.find(({ name }) => name === options.with)!;
      const files = Object.entries(projectFiles(template, root));
      const there = files.map(([name]) => name).filter((name) => existsSync(join(root, name)));
      if (there.length > 0) {
        throw new CommandFailure({
          code: 'file-exists',
          message: `${root} already contains ${there.join(', ')}, and init overwrites nothing.`,
          fix: 'Choose an empty folder: intertie init my-chat',
        });
      }
      try {
        for (const [name, text] of files) {
          mkdirSync(dirname(join(root, name)), { recursive: true });
          writeFileSync(join(root, name), text);
        }
      } catch (cause) {
        throw new CommandFailure({
          code: 'folder-not-writable',
          message: `Cannot create ${root}: ${cause instanceof Error ? cause.message : String(cause)}`,
          fix: 'Choose a folder that you can write to: intertie init my-chat',
          cause,
        });
      }
      if (terminal.json) return terminal.out(JSON.stringify({ folder: root, files: files.map(([name]) => name) }));
      for (const [name] of files) terminal.out(`  ${name}`);
      terminal.out('');
      terminal.out(`Next: ${folder === '.' ? '' : `cd ${quoteForShell(folder)} && `}npm install && npm start`);
      return undefined;
    });
};

function quoteForShell(path: string): string {
  return /^[\w./~:\\-]+$/.test(path) ? path : `'${path.replaceAll("'", String.raw`'\''`)}'`;
}
