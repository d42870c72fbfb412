import type { Command as Program } from 'commander';
import { deleteThreads, exportThread, listThreads, showThread } from '../cli/threads.ts';
import type { Command } from './command.ts';
import { runTool } from './run-tool.ts';
import { addExamples, addServerOptions, readPositive, wantsJson, type ServerFlags } from './tool-options.ts';

const toServerOptions = ({ server, token, header: headers }: ServerFlags, self: Program): object => ({
  server,
  token,
  headers,
  json: wantsJson(self),
});

export const threadsCommand: Command = (program) => {
  const threads = program
    .command('threads')
    .summary('list, show, export and delete threads of a server')
    .description('Manages the threads of an Intertie server.');

  const list = threads
    .command('list', { isDefault: true })
    .summary('list the newest threads')
    .description('Lists the newest threads, one per line.')
    .option('--search <words>', 'only threads that contain these words')
    .option('--limit <number>', 'maximum number of threads (default: 20)', readPositive);
  addServerOptions(list).action(async (flags: ServerFlags & { search?: string; limit?: number }, self) =>
    runTool(self, (io) =>
      listThreads({ ...toServerOptions(flags, self), search: flags.search, limit: flags.limit }, io),
    ),
  );

  const show = threads
    .command('show')
    .summary('show a thread')
    .description('Shows the messages of a thread.')
    .argument('<thread>');
  addServerOptions(show).action(async (thread: string, flags: ServerFlags, self) =>
    runTool(self, (io) => showThread({ ...toServerOptions(flags, self), thread }, io)),
  );

  const exported = threads
    .command('export')
    .summary('export a thread as JSON lines')
    .description('Exports a thread with the messages of all branches as JSON lines.')
    .argument('<thread>')
    .option('-o, --output <file>', 'output file');
  addServerOptions(exported).action(async (thread: string, flags: ServerFlags & { output?: string }, self) =>
    runTool(self, (io) => exportThread({ ...toServerOptions(flags, self), thread, output: flags.output }, io)),
  );

  const removed = threads
    .command('delete')
    .summary('delete threads permanently')
    .description('Deletes threads permanently.')
    .argument('<thread...>')
    .option('-y, --yes', 'skip the confirmation');
  addServerOptions(removed).action(async (ids: string[], flags: ServerFlags & { yes?: true }, self) =>
    runTool(self, (io) => deleteThreads({ ...toServerOptions(flags, self), threads: ids, yes: flags.yes }, io)),
  );

  addExamples(threads, [
    ['intertie threads', 'List the newest threads:'],
    ['intertie threads export 0197… -o trip.jsonl', 'Export one of them:'],
    ['intertie threads --json | jq -r ".threads[].id"', 'In a script:'],
  ]);
};
