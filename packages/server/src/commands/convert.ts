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
    .summary('turn any agent stream into another dialect')
    .description(
      'Turns a stream of one dialect into another: canonical, mail, open-harness, ai-sdk (full stream), ui-message-stream or\n' +
        'ag-ui in; canonical, ui-message-stream, ag-ui or mail out. What did not get through is said on stderr.',
    )
    .argument('[input]', 'a file, a URL, or - for standard input')
    .requiredOption(
      '-t, --to <dialect>',
      'canonical, ui-message-stream, ag-ui or mail; the dialect of the input changes the format only',
    )
    .option('-f, --from <dialect>', 'the dialect of the input, where it is not found out')
    .option('-F, --format <format>', 'of the output: sse, ndjson or tape')
    .option('--input-format <format>', 'sse, ndjson, tape or json, where it is not found out')
    .option('-o, --output <file>', 'write there; .sse, .jsonl and .tape.jsonl say the format')
    .option('--ui-version <major>', 'the major of ai that reads a UI message stream: 6 or 7', readUIVersion)
    .option('--strict', 'exit with 1 if anything was lost')
    .option('-q, --quiet', 'say nothing of losses')
    .option('--json', 'the ledger of losses as one line of JSON, on stderr');
  addEndpointOptions(command);
  addExamples(command, [
    ['intertie convert --to ag-ui swarm.sse', 'A recorded MAIL stream for an AG-UI front end:'],
    ['curl -N … | intertie convert --to canonical | jq -r .type', 'What is on the wire, one event a line:'],
    ['intertie convert --to ui-message-stream -o demo.tape.jsonl run.jsonl', 'A tape of a flow, for replay:'],
    [
      'intertie convert --from mail --to ag-ui http://localhost:8000 -p "Hello"',
      'Ask a live server, translate what it says:',
    ],
  ]);
  command.action(async (input: string | undefined, flags: Flags, self) => {
    const { to, from, format, inputFormat, output, uiVersion, strict, quiet } = flags;
    const asked = { input, to, from, format, inputFormat, output, uiVersion, strict, quiet, json: wantsJson(self) };
    const { convert } = await import('../cli/convert/convert.ts');
    await runTool(self, (io) => convert({ ...toEndpointOptions(flags), ...asked }, io));
  });
};
