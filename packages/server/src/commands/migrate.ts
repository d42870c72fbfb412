import type { OptionalMigration } from '@intertie/postgres';
import { Option } from 'commander';
import type { Command } from './command.ts';
import { CommandFailure } from '../cli/command-failure.ts';
import { hidePassword } from '../config/hide-password.ts';

type Options = { database?: string; print?: true; with?: OptionalMigration[] };

const optional: readonly OptionalMigration[] = ['row-security', 'full-text'];

export const migrateCommand: Command = (program, terminal) => {
  program
    .command('migrate')
    .description('bring the tables of a database up to date (the server does so by itself when it starts)')
    .option('--database <url>', 'postgres://…, or a folder (default: DATABASE_URL, else ./.intertie)')
    .option('--print', 'print the SQL, for whoever applies it')
    .addOption(
      new Option(
        '--with <names...>',
        'print these too: rows by scope for roles that query the tables, an index of the words of messages',
      ).choices(optional),
    )
    .addHelpText(
      'after',
      `
Examples:
  DATABASE_URL=postgres://… intertie migrate
  intertie migrate --print > migrations.sql
  intertie migrate --print --with row-security full-text > migrations.sql`,
    )
    .action(async ({ database, print, with: extras }: Options) => {
      const { createStore, printMigrations } = await import('@intertie/postgres');
      if (print) return terminal.out(await printMigrations(extras && { optional: extras }));
      if (extras) {
        throw new CommandFailure({
          code: 'usage',
          message: 'What is not for everybody is applied by hand: --with goes with --print.',
          fix: `intertie migrate --print --with ${extras.join(' ')}`,
          exitCode: 2,
        });
      }
      const target = database ?? (process.env['DATABASE_URL'] || './.intertie');
      try {
        const store = await createStore(target);
        await store.close();
      } catch (cause) {
        const message = cause instanceof Error ? cause.message : String(cause);
        throw new CommandFailure({
          code: 'database-away',
          message,
          fix: 'Run "intertie doctor" to see what answers.',
          cause,
        });
      }
      const shown = hidePassword(target);
      terminal.out(
        terminal.json ? JSON.stringify({ database: shown, migrated: true }) : `The tables in ${shown} are up to date.`,
      );
      return undefined;
    });
};
