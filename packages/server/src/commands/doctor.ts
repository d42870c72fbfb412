import type { Command } from './command.ts';
import { exitWith } from './program.ts';

export const doctorCommand: Command = (program, terminal, known) => {
  program
    .command('doctor')
    .argument('[url]', 'server to check (default: this folder and its environment)')
    .description('check the database, the runtimes and the keys, and print the next step for each failure')
    .option('-c, --config <file>', 'configuration file (default: intertie.config.ts in this folder)')
    .option('--token <token>', 'token for the server (default: INTERTIE_TOKEN)')
    .action(async (url: string | undefined, options: { config?: string; token?: string }, command) => {
      const { examine } = await import('../doctor/examine.ts');
      const findings = await examine({ ...options, ...(url !== undefined && { url }), env: process.env, ...known });
      const isFine = findings.every(({ state }) => state !== 'broken');
      if (terminal.json) terminal.out(JSON.stringify({ ok: isFine, findings }));
      else {
        const marks = {
          fine: terminal.style('green', 'ok  '),
          absent: terminal.style('dim', '-   '),
          broken: terminal.style('red', 'FAIL'),
        };
        for (const { state, what, found, next } of findings) {
          terminal.out(`${marks[state]} ${what}: ${found}`);
          if (next !== undefined) terminal.out(`       ${terminal.style(state === 'broken' ? 'yellow' : 'dim', next)}`);
        }
      }
      if (!isFine) exitWith(command, 1);
    });
};
