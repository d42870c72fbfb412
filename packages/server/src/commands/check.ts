import type { Command } from './command.ts';
import { runTool } from './run-tool.ts';
import {
  addEndpointOptions,
  addExamples,
  readPositive,
  readUIVersion,
  toEndpointOptions,
  wantsJson,
  type EndpointFlags,
} from './tool-options.ts';

type Flags = EndpointFlags & { as?: string; inputFormat?: string; max?: number; uiVersion?: 6 | 7 };

export const checkCommand: Command = (program) => {
  const command = program
    .command('check')
    .summary('validate an agent stream')
    .description(
      'Checks a stream against the rules of its dialect and reports each violated rule with the place and the fix.\n' +
        'Works with the streams of any server: a file, a pipe, or a live endpoint, which is sent a prompt first.',
    )
    .argument('[input]', 'a file, a URL, or - for standard input')
    .option('-a, --as <dialect>', 'ag-ui, ui-message-stream, canonical, model-messages, mail, … (default: detected)')
    .option('--input-format <format>', 'sse, ndjson, tape or json (default: detected)')
    .option('--max <places>', 'maximum number of places shown per rule (default: 3)', readPositive)
    .option('--ui-version <major>', 'major version of ai that reads a UI message stream: 6 or 7', readUIVersion)
    .option('--json', 'write the report as JSON');
  addEndpointOptions(command);
  addExamples(command, [
    ['intertie check http://localhost:3000/api/chat -p "Hello"', 'Send a prompt to an endpoint and check the answer:'],
    ['curl -sN -d @request.json localhost:8000/agent | intertie check', 'Check the output of a server:'],
    ['intertie check history.json --as model-messages', 'Check whether providers accept a history:'],
    ['intertie check run.sse --json | jq .ok', 'In a script (the exit code is 1 for violations):'],
  ]);
  command.addHelpText(
    'after',
    '\nExit codes: 0 no violations, 1 violations, 2 invalid arguments, 3 unreadable input.\n',
  );
  command.action(async (input: string | undefined, flags: Flags, self) => {
    const { as, inputFormat, max, uiVersion } = flags;
    const { checkStream } = await import('../cli/check/check.ts');
    await runTool(self, (io) =>
      checkStream({ ...toEndpointOptions(flags), input, as, inputFormat, max, uiVersion, json: wantsJson(self) }, io),
    );
  });
};
