import { InvalidArgumentError } from 'commander';
import type { Command } from './command.ts';
import type { ServeCommandOptions } from './run-serve.ts';
import { readPort } from './tool-options.ts';

export const serveCommand: Command = (program, terminal, { agentKinds }) => {
  const variables = agentKinds.flatMap(({ environment }) => [
    ...(environment?.keys ?? []),
    ...(environment?.settings ?? []),
  ]);
  program
    .command('serve', { isDefault: true })
    .description('start the server and the console (default command)')
    .option('-p, --port <port>', 'port (default: the configuration, PORT, or 4111)', readPort)
    .option('--host <address>', 'address to listen on (default: 127.0.0.1; any other needs a token)')
    .option('-c, --config <file>', 'configuration file (default: intertie.config.ts in this folder)')
    .option('--trust-proxy <proxies>', 'trusted reverse proxies: their number, or their addresses (10.0.0.0/8,…)')
    .option('--no-demos', 'leave out the demo agents')
    .option('--log <kind>', 'plain (warnings and errors) or json (every request)')
    .option('--drain <seconds>', 'time for running runs to finish on shutdown', readSeconds, 10)
    .addHelpText(
      'after',
      `
Without a configuration, it serves demo agents, and real ones for the credentials in the environment:
  ${variables.join(', ')}
Data is stored in ./.intertie, or in the Postgres database of DATABASE_URL.

Examples:
  intertie                                       try it out
  intertie serve --port 8080
  INTERTIE_TOKEN=$(openssl rand -hex 24) intertie serve --host 0.0.0.0`,
    )
    .action(async (options: ServeCommandOptions) => {
      // Loaded lazily: other commands start without the server.
      const { runServe } = await import('./run-serve.ts');
      await runServe(options, terminal);
    });
};

function readSeconds(text: string): number {
  if (/^\d{1,4}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('Use a whole number of seconds.');
}
