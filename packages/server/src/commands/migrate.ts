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
    .description('create or update the tables of a database (the server also does this when it starts)')
    .option('--database <url>', 'postgres://… or a folder (default: DATABASE_URL, or ./.intertie)')
    .option('--print', 'print the SQL instead of applying it')
    .addOption(
      new Option(
        '--with <names...>',
        'also print these: row security for roles that query the tables, a full-text index of messages',
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
          message: 'Optional migrations are applied by hand: use --with together with --print.',
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
          fix: 'Run "intertie doctor" to test the connection.',
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
