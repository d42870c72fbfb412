import type { Command } from './command.ts';
import { runTool } from './run-tool.ts';
import { addEndpointOptions, addExamples, toEndpointOptions, type EndpointFlags } from './tool-options.ts';

type Flags = EndpointFlags & { as?: string; output?: string; title?: string };

export const recordCommand: Command = (program) => {
  const command = program
    .command('record')
    .summary('record what an endpoint says, as a tape')
    .description('Asks any endpoint and keeps what it says, with its times, as a tape that can be replayed.')
    .argument('<url>', 'an AG-UI agent, a chat route, a MAIL server')
    .option('-a, --as <dialect>', 'what it speaks, where it is not found out')
    .option('-o, --output <file>', 'the tape; - for standard output (default: named after the host)')
    .option('--title <text>', 'kept in the tape');
  addEndpointOptions(command);
  addExamples(command, [
    ['intertie record http://localhost:3000/api/chat -p "Plan a trip" -o trip.tape.jsonl', 'A chat route:'],
    ['intertie record http://localhost:8000 --as mail -p "Hello"', 'A MAIL server:'],
    ['intertie replay trip.tape.jsonl', 'And then, without a key:'],
  ]);
  command.action(async (url: string, flags: Flags, self) => {
    const { as, output, title } = flags;
    const { record } = await import('../cli/record/record.ts');
    await runTool(self, (io) => record({ ...toEndpointOptions(flags), url, as, output, title }, io));
  });
};
