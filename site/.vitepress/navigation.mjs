// @ts-check
import { listPages } from '../pages.mjs';

/** @type {(text: string, link: string) => { text: string, link: string }} */
const item = (text, link) => ({ text, link });

export const navigation = [
  item('Get started', '/quick-start'),
  item('Clients', '/clients/use-chat'),
  item('Runtimes', '/runtimes/ai-sdk'),
  item('Operations', '/production'),
  item('Reference', '/command-line'),
];

export const sidebar = [
  {
    text: 'Get started',
    items: [
      item('Quick start', '/quick-start'),
      item('First app', '/first-app'),
      item('React page', '/react-page'),
      item('In your own server', '/own-server'),
      item('Comparison', '/comparison'),
      item('All pages', '/overview'),
    ],
  },
  {
    text: 'Clients',
    items: [
      item('useChat', '/clients/use-chat'),
      item('assistant-ui', '/clients/assistant-ui'),
      item('CopilotKit', '/clients/copilotkit'),
      item('TanStack AI', '/clients/tanstack-ai'),
      item('HttpAgent (AG-UI)', '/clients/http-agent'),
      item('OpenAI clients', '/clients/openai'),
      item('A2A clients', '/clients/a2a'),
      item('Durable Streams', '/clients/durable-streams'),
      item('curl', '/clients/curl'),
    ],
  },
  {
    text: 'Runtimes',
    items: [
      item('AI SDK models', '/runtimes/ai-sdk'),
      item('AI SDK chat routes', '/runtimes/chat-route'),
      item('AG-UI agents', '/runtimes/ag-ui'),
      item('LangGraph', '/runtimes/langgraph'),
      item('LlamaIndex', '/runtimes/llama-index'),
      item('Mastra', '/runtimes/mastra'),
      item('Agno', '/runtimes/agno'),
      item('Google ADK', '/runtimes/google-adk'),
      item('Pydantic AI', '/runtimes/pydantic-ai'),
      item('Strands', '/runtimes/strands'),
      item('A2A agents', '/runtimes/a2a'),
      item('OpenAI servers', '/packages/openai#a-remote-server-as-an-agent'),
      item('MAIL 1.3 swarms', '/runtimes/mail'),
      item('Open Harness flows', '/runtimes/open-harness'),
    ],
  },
  {
    text: 'Concepts',
    items: [
      item('Events, messages, runs', '/concepts'),
      item('Guarantees', '/guarantees'),
      item('When a process dies', '/when-a-process-dies'),
      item('Glossary', '/glossary'),
      item('Architecture', '/architecture'),
    ],
  },
  {
    text: 'Operations',
    items: [
      item('Going to production', '/production'),
      item('Operations', '/operations'),
      item('Scaling', '/scaling'),
      item('Security', '/security'),
      item('Benchmarks', '/benchmarks'),
    ],
  },
  {
    text: 'Reference',
    items: [
      item('Command line', '/command-line'),
      item('Errors', '/errors/'),
      item('Protocols', '/protocols'),
      item('Names from other projects', '/names'),
      ...listGroup('Packages', 'packages/'),
      ...listGroup('Examples', 'examples/'),
    ],
  },
  {
    text: 'Extend',
    items: [
      item('Guides', '/contributing/'),
      item('Add a runtime', '/contributing/add-a-runtime'),
      item('Add a protocol', '/contributing/add-a-protocol'),
      item('Write a store', '/contributing/write-a-store'),
      ...listGroup('Decisions', 'decisions/'),
    ],
  },
];

/**
 * Lists the pages of a folder as a group that is closed at first.
 * @param {string} text
 * @param {string} folder
 */
function listGroup(text, folder) {
  const pages = [...listPages().values()].filter((page) => page.startsWith(folder) && !page.endsWith('/index.md'));
  const items = pages.map((page) => {
    const name = page.slice(folder.length, -'.md'.length);
    return item(name, `/${folder}${name}`);
  });
  return [{ text, collapsed: true, items }];
}
