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
    .summary('find what is wrong with an agent stream')
    .description(
      'Checks a stream against the rules of its dialect and says which are broken, where, what that means and how to fix it.\n' +
        'Works on any server’s streams: a file, a pipe, or a live endpoint, which is sent a prompt first.',
    )
    .argument('[input]', 'a file, a URL, or - for standard input')
    .option('-a, --as <dialect>', 'ag-ui, ui-message-stream, canonical, model-messages, mail, …; found out if left out')
    .option('--input-format <format>', 'sse, ndjson, tape or json, where it is not found out')
    .option('--max <places>', 'how many places of each rule are shown (default: 3)', readPositive)
    .option('--ui-version <major>', 'the major of ai that reads a UI message stream: 6 or 7', readUIVersion)
    .option('--json', 'the report as JSON');
  addEndpointOptions(command);
  addExamples(command, [
    ['intertie check http://localhost:3000/api/chat -p "Hello"', 'Ask an endpoint and check what it answers:'],
    ['curl -sN -d @request.json localhost:8000/agent | intertie check', 'Check what a server sends:'],
    ['intertie check history.json --as model-messages', 'Would a provider take this history?'],
    ['intertie check run.sse --json | jq .ok', 'In a script; the exit code says it too:'],
  ]);
  command.addHelpText('after', '\nExit codes: 0 clean, 1 a rule is broken, 2 called wrongly, 3 cannot be read.\n');
  command.action(async (input: string | undefined, flags: Flags, self) => {
    const { as, inputFormat, max, uiVersion } = flags;
    const { checkStream } = await import('../cli/check/check.ts');
    await runTool(self, (io) =>
      checkStream({ ...toEndpointOptions(flags), input, as, inputFormat, max, uiVersion, json: wantsJson(self) }, io),
    );
  });
};
