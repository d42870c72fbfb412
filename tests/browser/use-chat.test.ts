import { testClient } from './client-suite.ts';

testClient({
  name: 'useChat',
  folder: 'clients',
  doc: 'docs/clients/use-chat.md',
  title: 'page.tsx',
  joins: true,
  stops: true,
  showsErrors: true,
});
