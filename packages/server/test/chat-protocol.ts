import { createUIMessageStreamProtocol } from '@intertie/ai-sdk';
import { settled, shown, type ChatMajor } from '../../ai-sdk/test/chats.ts';
import {
  cut,
  recordResponses,
  stop,
  storedMessages,
  waitForItems,
  listViolations,
  type Protocol,
  type Reply,
} from './protocol.ts';

/** Unmodified `DefaultChatTransport` with the chat of the same major version. */
export function chatProtocol({ name, ai, createChat }: ChatMajor): Protocol {
  return {
    name,
    async run(test) {
      const wire = recordResponses();
      const api = `${test.base}/api/agents/${test.agent}/chat`;
      const chat = createChat({
        id: test.thread,
        transport: new ai.DefaultChatTransport({ api, fetch: wire.fetch }),
        sendAutomaticallyWhen: (options) =>
          'output' in (test.reply ?? {})
            ? ai.lastAssistantMessageIsCompleteWithToolCalls(options)
            : ai.lastAssistantMessageIsCompleteWithApprovalResponses(options),
      });
      const sent = chat.sendMessage({ text: test.text });
      if (test.scenario === 'abort') {
        await waitForItems(test, wire.items);
        await stop(test);
      }
      if (test.scenario === 'resume') {
        await waitForItems(test, wire.items);
        await cut(test);
        await sent;
        wire.items.pop();
        await chat.resumeStream();
      }
      await sent;
      await settled(chat);
      const before = structuredClone(chat.lastMessage);
      if (test.reply) {
        await replyInChat(chat, test.reply);
        await settled(chat);
      }
      const stored = await storedMessages<never>(test, 'ui');
      return {
        client: shown(chat.lastMessage),
        stored: shown(stored.at(-1)),
        violations: wire.items.flatMap((items, index) => {
          // The second stream continues the message that the chat had at that time.
          const protocol = createUIMessageStreamProtocol(index > 0 && before ? { message: before } : {});
          return listViolations(protocol, [items.filter((item) => item !== '[DONE]')]);
        }),
      };
    },
  };
}

async function replyInChat(chat: ReturnType<ChatMajor['createChat']>, reply: Reply): Promise<void> {
  if ('text' in reply) return chat.sendMessage({ text: reply.text });
  const asked = (chat.lastMessage?.parts ?? []) as Array<{
    type: string;
    state?: string;
    toolCallId?: string;
    toolName?: string;
    approval?: { id: string };
  }>;
  for (const { type, state, toolCallId = '', toolName, approval } of asked) {
    if ('approve' in reply && state === 'approval-requested' && approval)
      await chat.addToolApprovalResponse({ id: approval.id, approved: true });
    else if ('output' in reply && state === 'input-available')
      await chat.addToolOutput({
        tool: (toolName ?? type.slice(5)) as never,
        toolCallId,
        output: reply.output,
      });
  }
  return undefined;
}
