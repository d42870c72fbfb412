import { testClient } from './client-suite.ts';

const page = { folder: 'clients', doc: 'docs/clients/assistant-ui.md', showsErrors: true };

testClient({ ...page, name: 'assistant-ui with the AI SDK', title: 'ai-sdk.tsx', joins: true, stops: true });
testClient({
  ...page,
  name: 'assistant-ui with AssistantChatTransport',
  title: 'ai-sdk.tsx',
  change: (program) =>
    program
      .replaceAll('IntertieChatTransport', 'AssistantChatTransport')
      .replace("'@intertie/ai-sdk'", "'@assistant-ui/react-ai-sdk'")
      .replace('  version: 7,\n', ''),
  joins: true,
  stops: false,
});
testClient({
  ...page,
  name: 'assistant-ui with AG-UI',
  title: 'ag-ui.tsx',
  joins: false,
  stops: false,
  keepsApprovals: false,
});
