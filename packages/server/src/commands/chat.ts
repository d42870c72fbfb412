import type { Command } from './command.ts';
import { runTool } from './run-tool.ts';
import { addExamples, addServerOptions, type ServerFlags } from './tool-options.ts';

type Flags = ServerFlags & { as?: string; message?: string; thread?: string; reasoning?: true };

export const chatCommand: Command = (program) => {
  const command = program
    .command('chat')
    .summary('talk to an agent in the terminal')
    .description(
      'A conversation with an agent of an Intertie server, or with any AG-UI agent, chat route or MAIL swarm by its URL.\n' +
        'Approvals and questions are answered in place. Ctrl-C stops an answer; twice, it leaves.',
    )
    .argument('[agent|url]', 'an agent of the server, or a URL (default: the server’s default agent)')
    .option('-a, --as <dialect>', 'what the URL speaks, where it is not found out: ui-message-stream, ag-ui or mail')
    .option('-m, --message <text>', 'say this first; without a terminal, only this')
    .option('--thread <id>', 'go on with a conversation of the server’s')
    .option('--reasoning', 'show what is thought as it is thought');
  addServerOptions(command);
  addExamples(command, [
    ['intertie chat', 'The default agent of the server on this machine:'],
    ['intertie chat http://localhost:8000 --as mail', 'A MAIL swarm:'],
    ['intertie chat https://example.com/agent --as ag-ui -H "authorization: Bearer …"', 'An AG-UI agent elsewhere:'],
    ['intertie chat researcher -m "What is new?" > answer.txt', 'One question, in a script:'],
  ]);
  command.action(async (target: string | undefined, flags: Flags, self) => {
    const { as, message, thread, reasoning, server, token, header: headers } = flags;
    const options = { target, as, message, thread, reasoning, server, token, headers };
    const { chat } = await import('../cli/chat/chat.ts');
    const { nodeTerminal } = await import('../cli/chat/chat-terminal.ts');
    await runTool(self, (io) => chat(options, io, nodeTerminal()), { takesInterrupts: false });
  });
};
