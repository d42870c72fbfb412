// Names that fragments of the documentation use without declaring them. Fragments are compiled, not run.
import type { AgentSource } from '@intertie/core';
import type { DetachedLog } from '@intertie/core/store';
import type { createFlowRuntime, demoFlow } from '@intertie/open-harness/demo';
import type { ChatTransport, LanguageModel, ToolSet, UIMessage } from 'ai';

type Store = Awaited<ReturnType<typeof createStore>>;
type RedisClient = { sendCommand(command: string[]): Promise<unknown> };
type RuntimeOptions = { flow: typeof demoFlow; registry: unknown; resume?: unknown };

declare global {
  const { HttpAgent }: typeof import('@ag-ui/client');
  const { useChat }: typeof import('@ai-sdk/react');
  const { Agent }: typeof import('@intertie/agent');
  const { AGUIChatTransport }: typeof import('@intertie/ag-ui');
  const { createChatHandler, IntertieChatTransport }: typeof import('@intertie/ai-sdk');
  const { mailSource }: typeof import('@intertie/mail');
  const { OpenHarnessChatTransport }: typeof import('@intertie/open-harness');
  const { createStore }: typeof import('@intertie/postgres');
  const { conversationMessage }: typeof import('@intertie/postgres/drizzle');
  const { withDetachedLog }: typeof import('@intertie/core');
  const { asc, eq }: typeof import('drizzle-orm');
  const { defineConfig }: typeof import('intertie');
  type InferIntertieUIMessage<T extends { readonly tools?: ToolSet }> =
    import('@intertie/agent').InferIntertieUIMessage<T>;
  type OpenHarnessUIMessage = import('@intertie/open-harness').OpenHarnessUIMessage;

  const agent: import('@intertie/agent').Agent<ToolSet>;
  const anthropic: (modelId: string) => Exclude<LanguageModel, string>;
  const baseUrl: string;
  const createClient: (options: { url: string }) => { connect(): Promise<RedisClient> };
  const createRedisLog: (client: RedisClient) => DetachedLog;
  const createRuntime: (options: RuntimeOptions) => ReturnType<typeof createFlowRuntime>;
  const db: ReturnType<typeof import('drizzle-orm/node-postgres').drizzle>;
  const flow: typeof demoFlow;
  const model: LanguageModel;
  const mySource: AgentSource;
  const registry: unknown;
  const store: Store;
  const threadId: string;
  const tools: ToolSet;
  const transport: ChatTransport<UIMessage>;
  const user: string;
  const verify: (header: string | null) => Promise<import('intertie').Principal | null>;
}
