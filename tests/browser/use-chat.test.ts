import { testClient } from './client-suite.ts';

const page = { folder: 'clients', doc: 'docs/clients/use-chat.md', title: 'page.tsx', joins: true, showsErrors: true };

testClient({ ...page, name: 'useChat', stops: true });
testClient({
  ...page,
  name: 'useChat with DefaultChatTransport',
  change: (program) =>
    program
      .replaceAll('IntertieChatTransport', 'DefaultChatTransport')
      .replace("'@intertie/ai-sdk'", "'ai'")
      .replace('  version: 7,\n', ''),
  stops: false,
});
