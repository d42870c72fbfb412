import type { Command } from './command.ts';
import { runTool } from './run-tool.ts';
import {
  addEndpointOptions,
  addExamples,
  readUIVersion,
  toEndpointOptions,
  wantsJson,
  type EndpointFlags,
} from './tool-options.ts';

type Flags = EndpointFlags & {
  to: string;
  from?: string;
  format?: string;
  inputFormat?: string;
  output?: string;
  uiVersion?: 6 | 7;
  strict?: true;
  quiet?: true;
};

export const convertCommand: Command = (program) => {
  const command = program
    .command('convert')
    .summary('convert an agent stream to another dialect')
    .description(
      'Converts a stream from canonical, mail, open-harness, ai-sdk (full stream), ui-message-stream or ag-ui\n' +
        'to canonical, ui-message-stream, ag-ui or mail. Losses are reported on stderr.',
    )
    .argument('[input]', 'a file, a URL, or - for standard input')
    .requiredOption(
      '-t, --to <dialect>',
      'canonical, ui-message-stream, ag-ui or mail; with the dialect of the input, only the format changes',
    )
    .option('-f, --from <dialect>', 'dialect of the input (default: detected)')
    .option('-F, --format <format>', 'output format: sse, ndjson or tape')
    .option('--input-format <format>', 'sse, ndjson, tape or json (default: detected)')
    .option('-o, --output <file>', 'output file; .sse, .jsonl and .tape.jsonl select the format')
    .option('--ui-version <major>', 'major version of ai that reads a UI message stream: 6 or 7', readUIVersion)
    .option('--strict', 'exit with 1 if there are losses')
    .option('-q, --quiet', 'omit the loss report')
    .option('--json', 'write the loss report as one line of JSON to stderr');
  addEndpointOptions(command);
  addExamples(command, [
    ['intertie convert --to ag-ui swarm.sse', 'A recorded MAIL stream for an AG-UI client:'],
    ['curl -N … | intertie convert --to canonical | jq -r .type', 'The event types of a stream, one per line:'],
    ['intertie convert --to ui-message-stream -o demo.tape.jsonl run.jsonl', 'A tape of a flow, for replay:'],
    [
      'intertie convert --from mail --to ag-ui http://localhost:8000 -p "Hello"',
      'Send a prompt to a live server and convert the answer:',
    ],
  ]);
  command.action(async (input: string | undefined, flags: Flags, self) => {
    const { to, from, format, inputFormat, output, uiVersion, strict, quiet } = flags;
    const options = { input, to, from, format, inputFormat, output, uiVersion, strict, quiet, json: wantsJson(self) };
    const { convert } = await import('../cli/convert/convert.ts');
    await runTool(self, (io) => convert({ ...toEndpointOptions(flags), ...options }, io));
  });
};
