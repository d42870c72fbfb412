import type { Command as Program } from 'commander';
import { deleteThreads, exportThread, listThreads, showThread } from '../cli/threads.ts';
import type { Command } from './command.ts';
import { runTool } from './run-tool.ts';
import { addExamples, addServerOptions, readPositive, wantsJson, type ServerFlags } from './tool-options.ts';

const serverOf = ({ server, token, header: headers }: ServerFlags, self: Program): object => ({
  server,
  token,
  headers,
  json: wantsJson(self),
});

export const threadsCommand: Command = (program) => {
  const threads = program
    .command('threads')
    .summary('list, show, export and delete a server’s conversations')
    .description('The conversations that an Intertie server keeps.');

  const list = threads
    .command('list', { isDefault: true })
    .summary('the newest ones')
    .description('The newest conversations, a line each.')
    .option('--search <words>', 'only those that have these words')
    .option('--limit <number>', 'how many (default: 20)', readPositive);
  addServerOptions(list).action(async (flags: ServerFlags & { search?: string; limit?: number }, self) =>
    runTool(self, (io) => listThreads({ ...serverOf(flags, self), search: flags.search, limit: flags.limit }, io)),
  );

  const show = threads
    .command('show')
    .summary('one of them')
    .description('A conversation, to read.')
    .argument('<thread>');
  addServerOptions(show).action(async (thread: string, flags: ServerFlags, self) =>
    runTool(self, (io) => showThread({ ...serverOf(flags, self), thread }, io)),
  );

  const exported = threads
    .command('export')
    .summary('all of one, as JSON lines')
    .description('A conversation as JSON lines: its messages, every branch of them.')
    .argument('<thread>')
    .option('-o, --output <file>', 'write there');
  addServerOptions(exported).action(async (thread: string, flags: ServerFlags & { output?: string }, self) =>
    runTool(self, (io) => exportThread({ ...serverOf(flags, self), thread, output: flags.output }, io)),
  );

  const removed = threads
    .command('delete')
    .summary('for good')
    .description('Deletes conversations for good.')
    .argument('<thread...>')
    .option('-y, --yes', 'do not ask');
  addServerOptions(removed).action(async (ids: string[], flags: ServerFlags & { yes?: true }, self) =>
    runTool(self, (io) => deleteThreads({ ...serverOf(flags, self), threads: ids, yes: flags.yes }, io)),
  );

  addExamples(threads, [
    ['intertie threads', 'The newest conversations:'],
    ['intertie threads export 0197… -o trip.jsonl', 'One of them, to keep:'],
    ['intertie threads --json | jq -r ".threads[].id"', 'For a script:'],
  ]);
};
