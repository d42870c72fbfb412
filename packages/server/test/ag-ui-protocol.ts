import { HttpAgent } from '@ag-ui/client';
import { agUi } from '@intertie/ag-ui';
import { recording, stop, storedMessages, untilTalking, violationsOf, type Protocol, type Reply } from './protocol.ts';

/** An unmodified `HttpAgent`. */
export const agUiProtocol: Protocol = {
  name: 'AG-UI 1.0',
  async talk(one) {
    const wire = recording();
    const client = new HttpAgent({
      url: `${one.base}/api/agents/${one.agent}/ag-ui`,
      threadId: one.thread,
      fetch: wire.fetch,
    });
    client.addMessage({ id: crypto.randomUUID(), role: 'user', content: one.text });
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
    const said = (): number => wire.items.at(-1)?.length ?? 0;
    if (one.scenario === 'abort') {
      await untilTalking(one, said);
      await stop(one);
    }
    if (one.scenario === 'resume') {
      await untilTalking(one, said);
      // It leaves by itself: of a connection that is cut, this client rejects a promise that nobody can catch.
      client.abortRun();
      await first;
      wire.items.pop();
      await run({ runId });
    }
    await first;
    if (one.reply) await run({ runId: crypto.randomUUID(), ...replyOf(client, one.reply) });
    const stored = await storedMessages<{ role: string }>(one, 'ag-ui');
    return {
      client: shownOfAGUI(client.messages),
      stored: shownOfAGUI(stored),
      violations: violationsOf(agUi, wire.items),
    };
  },
};

/** What the next run is given; words and results are messages. */
function replyOf(client: HttpAgent, reply: Reply): object {
  const id = crypto.randomUUID();
  if ('say' in reply) client.addMessage({ id, role: 'user', content: reply.say });
  if ('output' in reply) {
    const messages = client.messages as AGUIMessage[];
    const settledCalls = new Set(messages.map(({ toolCallId }) => toolCallId));
    const open = messages.flatMap(({ toolCalls = [] }) => toolCalls).filter((call) => !settledCalls.has(call.id));
    for (const call of open) client.addMessage({ id, role: 'tool', toolCallId: call.id, content: reply.output });
  }
  if (!('approve' in reply)) return {};
  const { pendingInterrupts } = client as unknown as { pendingInterrupts: Array<{ id: string }> };
  const payload = { approved: true };
  return { resume: pendingInterrupts.map((asked) => ({ interruptId: asked.id, status: 'resolved', payload })) };
}

type AGUIMessage = {
  id: string;
  role: string;
  content?: unknown;
  toolCallId?: string;
  toolCalls?: Array<{ id: string; function: unknown }>;
};

/** What a page shows of AG-UI messages: who said what, and which tools were called with what result. */
export function shownOfAGUI(messages: readonly unknown[]): unknown[] {
  return (
    (messages as AGUIMessage[])
      // A call that was stopped is told to have no result, and that is all there is to its message.
      .filter(({ role, content }) => role !== 'activity' && !(role === 'tool' && content === ''))
      .map(({ id, role, content, toolCallId, toolCalls }) => ({
        // A result is known by its call: who gives one names its message as he likes.
        ...(toolCallId === undefined ? { id } : { toolCallId }),
        role,
        ...(content !== '' && content !== undefined && { content }),
        ...(toolCalls && { toolCalls: toolCalls.map((call) => ({ id: call.id, function: call.function })) }),
      }))
  );
}
