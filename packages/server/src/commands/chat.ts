import { joinNames } from '../config/join-names.ts';
import type { Command } from './command.ts';
import { runTool } from './run-tool.ts';
import { addExamples, listExamples, addServerOptions, listWith, type ServerFlags } from './tool-options.ts';

type Flags = ServerFlags & { as?: string; message?: string; thread?: string; reasoning?: true };

export const chatCommand: Command = (program, _terminal, { protocols }) => {
  const command = program
    .command('chat')
    .summary('chat with an agent in the terminal')
    .description(
      `Chats with an agent of an Intertie server, or by its URL with ${joinNames(protocols.flatMap(({ client }) => client?.server ?? []))}.\n` +
        'Approvals and questions are answered in place. Ctrl-C stops an answer; a second Ctrl-C exits.',
    )
    .argument('[agent|url]', 'an agent of the server, or a URL (default: the server’s default agent)')
    .option(
      '-a, --as <protocol>',
      `protocol of the URL if it is not detected: ${joinNames(listWith(protocols, 'client'))}`,
    )
    .option('-m, --message <text>', 'first message; without a terminal, the only one')
    .option('--thread <id>', 'continue a thread of the server')
    .option('--reasoning', 'show reasoning as it arrives');
  addServerOptions(command);
  addExamples(command, [
    ['intertie chat', 'The default agent of the server on this machine:'],
    ...listExamples(protocols, 'chat'),
    ['intertie chat researcher -m "What is new?" > answer.txt', 'One message, in a script:'],
  ]);
  command.action(async (target: string | undefined, flags: Flags, self) => {
    const { as, message, thread, reasoning, server, token, header: headers } = flags;
    const options = { target, as, message, thread, reasoning, server, token, headers, protocols };
    const { chat } = await import('../cli/chat/chat.ts');
    const { nodeTerminal } = await import('../cli/chat/chat-terminal.ts');
    await runTool(self, (io) => chat(options, io, nodeTerminal()), { takesInterrupts: false });
  });
};
