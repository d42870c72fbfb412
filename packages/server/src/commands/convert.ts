import { joinNames } from '../config/join-names.ts';
import type { Command } from './command.ts';
import { runTool } from './run-tool.ts';
import {
  addEndpointOptions,
  addExamples,
  listExamples,
  addVariantOptions,
  listWith,
  readVariants,
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
  strict?: true;
  quiet?: true;
};

export const convertCommand: Command = (program, _terminal, { protocols }) => {
  const writable = joinNames(listWith(protocols, 'encoder'));
  const command = program
    .command('convert')
    .summary('convert an agent stream to another protocol')
    .description(
      `Converts a stream from ${joinNames(listWith(protocols, 'decoder'))}\n` +
        `to ${writable}. Losses are reported on stderr.`,
    )
    .argument('[input]', 'a file, a URL, or - for standard input')
    .requiredOption('-t, --to <protocol>', `${writable}; with the protocol of the input, only the format changes`)
    .option('-f, --from <protocol>', 'protocol of the input (default: detected)')
    .option('-F, --format <format>', 'output format: sse, ndjson or tape')
    .option('--input-format <format>', 'sse, ndjson, tape or json (default: detected)')
    .option('-o, --output <file>', 'output file; .sse, .jsonl and .tape.jsonl select the format')
    .option('--strict', 'exit with 1 if there are losses')
    .option('-q, --quiet', 'omit the loss report')
    .option('--json', 'write the loss report as one line of JSON to stderr');
  addVariantOptions(command, protocols);
  addEndpointOptions(command);
  addExamples(command, [
    ['curl -N … | intertie convert --to canonical | jq -r .type', 'The event types of a stream, one per line:'],
    ...listExamples(protocols, 'convert'),
  ]);
  command.action(async (input: string | undefined, flags: Flags, self) => {
    const { to, from, format, inputFormat, output, strict, quiet } = flags;
    const options = { input, to, from, format, inputFormat, output, strict, quiet, json: wantsJson(self) };
    const variants = readVariants(self, protocols);
    const { convert } = await import('../cli/convert/convert.ts');
    await runTool(self, (io) => convert({ ...toEndpointOptions(flags), ...options, variants, protocols }, io));
  });
};
