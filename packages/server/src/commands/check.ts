import { joinNames } from '../config/join-names.ts';
import type { Command } from './command.ts';
import { runTool } from './run-tool.ts';
import {
  addEndpointOptions,
  addExamples,
  listExamples,
  readPositive,
  addVariantOptions,
  readVariants,
  toEndpointOptions,
  wantsJson,
  type EndpointFlags,
} from './tool-options.ts';

type Flags = EndpointFlags & { as?: string; inputFormat?: string; max?: number };

export const checkCommand: Command = (program, _terminal, { protocols }) => {
  const command = program
    .command('check')
    .summary('validate an agent stream')
    .description(
      'Checks a stream against the rules of its protocol and reports each violated rule with the place and the fix.\n' +
        'Works with the streams of any server: a file, a pipe, or a live endpoint, which is sent a prompt first.',
    )
    .argument('[input]', 'a file, a URL, or - for standard input')
    .option('-a, --as <protocol>', `${joinNames(protocols.map(({ name }) => name))} (default: detected)`)
    .option('--input-format <format>', 'sse, ndjson, tape or json (default: detected)')
    .option('--max <places>', 'maximum number of places shown per rule (default: 3)', readPositive)
    .option('--json', 'write the report as JSON');
  addVariantOptions(command, protocols);
  addEndpointOptions(command);
  addExamples(command, [
    ['intertie check http://localhost:3000/api/chat -p "Hello"', 'Send a prompt to an endpoint and check the answer:'],
    ['curl -sN -d @request.json localhost:8000/agent | intertie check', 'Check the output of a server:'],
    ...listExamples(protocols, 'check'),
    ['intertie check run.sse --json | jq .ok', 'In a script (the exit code is 1 for violations):'],
  ]);
  command.addHelpText(
    'after',
    '\nExit codes: 0 no violations, 1 violations, 2 invalid arguments, 3 unreadable input.\n',
  );
  command.action(async (input: string | undefined, flags: Flags, self) => {
    const { as, inputFormat, max } = flags;
    const variants = readVariants(self, protocols);
    const { checkStream } = await import('../cli/check/check.ts');
    await runTool(self, (io) =>
      checkStream(
        { ...toEndpointOptions(flags), input, as, inputFormat, max, variants, protocols, json: wantsJson(self) },
        io,
      ),
    );
  });
};
