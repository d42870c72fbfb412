import { createUIMessageStreamDialect } from '@intertie/ai-sdk';
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
    async run(one) {
      const wire = recordResponses();
      const api = `${one.base}/api/agents/${one.agent}/chat`;
      const chat = createChat({
        id: one.thread,
        transport: new ai.DefaultChatTransport({ api, fetch: wire.fetch }),
        sendAutomaticallyWhen: (so) =>
          'output' in (one.reply ?? {})
            ? ai.lastAssistantMessageIsCompleteWithToolCalls(so)
            : ai.lastAssistantMessageIsCompleteWithApprovalResponses(so),
      });
      const sent = chat.sendMessage({ text: one.text });
      const said = (): number => wire.items.at(-1)?.length ?? 0;
      if (one.scenario === 'abort') {
        await waitForItems(one, said);
        await stop(one);
      }
      if (one.scenario === 'resume') {
        await waitForItems(one, said);
        await cut(one);
        await sent;
        wire.items.pop();
        await chat.resumeStream();
      }
      await sent;
      await settled(chat);
      const before = structuredClone(chat.lastMessage);
      if (one.reply) {
        await replyInChat(chat, one.reply);
        await settled(chat);
      }
      const stored = await storedMessages<never>(one, 'ui');
      return {
        client: shown(chat.lastMessage),
        stored: shown(stored.at(-1)),
        violations: wire.items.flatMap((items, index) => {
          // The second stream continues the message that the chat had at that time.
          const dialect = createUIMessageStreamDialect(index > 0 && before ? { message: before } : {});
          return listViolations(dialect, [items.filter((item) => item !== '[DONE]')]);
        }),
      };
    },
  };
}

async function replyInChat(chat: ReturnType<ChatMajor['createChat']>, reply: Reply): Promise<void> {
  if ('say' in reply) return chat.sendMessage({ text: reply.say });
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
