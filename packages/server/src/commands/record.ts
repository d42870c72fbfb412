import { joinNames } from '../config/join-names.ts';
import type { Command } from './command.ts';
import { runTool } from './run-tool.ts';
import {
  addEndpointOptions,
  addExamples,
  listExamples,
  toEndpointOptions,
  type EndpointFlags,
} from './tool-options.ts';

type Flags = EndpointFlags & { as?: string; output?: string; title?: string };

export const recordCommand: Command = (program, _terminal, { protocols }) => {
  const command = program
    .command('record')
    .summary('record the response of an endpoint as a tape')
    .description('Sends a prompt to an endpoint and records the response, with timestamps, as a tape for replay.')
    .argument('<url>', joinNames(protocols.flatMap(({ client }) => client?.server ?? [])))
    .option('-a, --as <protocol>', 'protocol of the endpoint (default: detected)')
    .option('-o, --output <file>', 'tape file, or - for standard output (default: named after the host)')
    .option('--title <text>', 'title in the header of the tape');
  addEndpointOptions(command);
  addExamples(command, [
    [
      'intertie record http://localhost:3000/api/chat -p "Plan a trip" -o trip.tape.jsonl',
      'The chat endpoint of an app:',
    ],
    ...listExamples(protocols, 'record'),
    ['intertie replay trip.tape.jsonl', 'Replay it without an API key:'],
  ]);
  command.action(async (url: string, flags: Flags, self) => {
    const { as, output, title } = flags;
    const { record } = await import('../cli/record/record.ts');
    await runTool(self, (io) => record({ ...toEndpointOptions(flags), url, as, output, title, protocols }, io));
  });
};
