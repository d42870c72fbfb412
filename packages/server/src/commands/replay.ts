import { joinNames } from '../config/join-names.ts';
import type { Command } from './command.ts';
import { runTool } from './run-tool.ts';
import { addExamples, listExamples, listWith, readPort, readPositive } from './tool-options.ts';

type Flags = { as?: string; speed?: number; port?: number; quiet?: true };

export const replayCommand: Command = (program, _terminal, { protocols }) => {
  const command = program
    .command('replay')
    .summary('serve a tape as if it were an agent')
    .description(
      'Starts a server on this machine that answers every request with a tape, for client development without a key.\n' +
        'With several tapes, the first turn of a thread plays the first tape, the second turn the second, and so on.',
    )
    .argument('<tape...>', 'tapes, or recorded streams of any protocol')
    .option(
      '-a, --as <protocol>',
      `${joinNames(listWith(protocols, 'replay'))} for every path (default: depends on the path)`,
    )
    .option('-s, --speed <factor>', '1 as recorded, 2 twice as fast, Infinity without delays', readPositive)
    .option('--port <port>', 'port (default: any free one)', readPort)
    .option('-q, --quiet', 'do not list the requests');
  addExamples(command, listExamples(protocols, 'replay'));
  command.action(async (tapes: string[], { as, speed, port, quiet }: Flags, self) => {
    const { replay } = await import('../cli/replay/replay.ts');
    await runTool(self, (io) => replay({ tapes, as, speed, port, quiet, protocols }, io));
  });
};
