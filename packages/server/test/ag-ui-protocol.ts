import { HttpAgent } from '@ag-ui/client';
import { agUi } from '@intertie/ag-ui';
import {
  recordResponses,
  stop,
  storedMessages,
  waitForItems,
  listViolations,
  type Protocol,
  type Reply,
} from './protocol.ts';

/** Unmodified `HttpAgent`. */
export const agUiProtocol: Protocol = {
  name: 'AG-UI 1.0',
  async run(test) {
    const wire = recordResponses();
    const client = new HttpAgent({
      url: `${test.base}/api/agents/${test.agent}/ag-ui`,
      threadId: test.thread,
      fetch: wire.fetch,
    });
    client.addMessage({ id: crypto.randomUUID(), role: 'user', content: test.text });
    const runId = crypto.randomUUID();
    const failures: string[] = [];
    const run = async (input: object): Promise<void> => {
      try {
        await client.runAgent(input, { onRunFailed: () => undefined });
      } catch (error) {
        failures.push(String(error));
      }
    };
    const first = run({ runId });
    if (test.scenario === 'abort') {
      await waitForItems(test, wire.items);
      await stop(test);
    }
    if (test.scenario === 'resume') {
      await waitForItems(test, wire.items);
      // Aborts instead of cutting the connection: then this client would reject a promise that cannot be caught.
      client.abortRun();
      await first;
      wire.items.pop();
      await run({ runId });
    }
    await first;
    if (test.reply) await run({ runId: crypto.randomUUID(), ...addReply(client, test.reply) });
    const stored = await storedMessages<{ role: string }>(test, 'ag-ui');
    return {
      client: toVisibleMessages(client.messages),
      stored: toVisibleMessages(stored),
      violations: listViolations(agUi, wire.items),
    };
  },
};

/** Adds a reply as messages, and returns the input of the next run. */
function addReply(client: HttpAgent, reply: Reply): object {
  const id = crypto.randomUUID();
  if ('text' in reply) client.addMessage({ id, role: 'user', content: reply.text });
  if ('output' in reply) {
    const messages = client.messages as AGUIMessage[];
    const settledCalls = new Set(messages.map(({ toolCallId }) => toolCallId));
    const open = messages.flatMap(({ toolCalls = [] }) => toolCalls).filter((call) => !settledCalls.has(call.id));
    for (const call of open) client.addMessage({ id, role: 'tool', toolCallId: call.id, content: reply.output });
  }
  if (!('approve' in reply)) return {};
  const { pendingInterrupts } = client as unknown as { pendingInterrupts: Array<{ id: string }> };
  const payload = { approved: true };
  return { resume: pendingInterrupts.map((interrupt) => ({ interruptId: interrupt.id, status: 'resolved', payload })) };
}

type AGUIMessage = {
  id: string;
  role: string;
  content?: unknown;
  toolCallId?: string;
  toolCalls?: Array<{ id: string; function: unknown }>;
};

/** Visible content of AG-UI messages: roles, texts, tool calls and results. */
export function toVisibleMessages(messages: readonly unknown[]): unknown[] {
  return (
    (messages as AGUIMessage[])
      // A stopped call gets an empty result message.
      .filter(({ role, content }) => role !== 'activity' && !(role === 'tool' && content === ''))
      .map(({ id, role, content, toolCallId, toolCalls }) => ({
        // Results are identified by their call: clients choose the id of a result message.
        ...(toolCallId === undefined ? { id } : { toolCallId }),
        role,
        ...(content !== '' && content !== undefined && { content }),
        ...(toolCalls && { toolCalls: toolCalls.map((call) => ({ id: call.id, function: call.function })) }),
      }))
  );
}
