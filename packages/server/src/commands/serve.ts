import { InvalidArgumentError } from 'commander';
import type { Command } from './command.ts';
import type { ServeCommandOptions } from './run-serve.ts';

export const serveCommand: Command = (program, terminal) => {
  program
    .command('serve', { isDefault: true })
    .description('start the server and the console (this is what intertie alone does)')
    .option('-p, --port <port>', 'where to listen (default: 4111, or what the configuration says)', toPort)
    .option('--host <address>', 'on which address (default: 127.0.0.1; any other needs a token)')
    .option('-c, --config <file>', 'the configuration (default: intertie.config.ts of this folder)')
    .option('--trust-proxy <proxies>', 'trusted reverse proxies: their number, or their addresses (10.0.0.0/8,…)')
    .option('--no-demos', 'without the demo agents')
    .option('--log <kind>', 'plain (what needs attention) or json (every request)')
    .option('--drain <seconds>', 'how long runs may go on when the server is stopped', toSeconds, 10)
    .addHelpText(
      'after',
      `
Without a configuration it serves demo agents, and real ones for what the environment has:
  ANTHROPIC_API_KEY, OPENAI_API_KEY, OPENAI_BASE_URL, AI_GATEWAY_API_KEY, MAIL_BASE_URL, MAIL_API_KEY
Conversations are kept in ./.intertie, or in the Postgres of DATABASE_URL.

Examples:
  intertie                                       try it out
  intertie serve --port 8080
  INTERTIE_TOKEN=$(openssl rand -hex 24) intertie serve --host 0.0.0.0`,
    )
    .action(async (options: ServeCommandOptions) => {
      // The whole server is behind this; other commands start without it.
      const { runServe } = await import('./run-serve.ts');
      await runServe(options, terminal);
    });
};

function toPort(text: string): number {
  const port = Number(text);
  if (/^\d{1,5}$/.test(text) && port < 65_536) return port;
  throw new InvalidArgumentError('A port is a number from 0 to 65535.');
}

function toSeconds(text: string): number {
  if (/^\d{1,4}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('This is a number of seconds.');
}
