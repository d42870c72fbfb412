import { HttpAgent } from '@ag-ui/client';
import { stream } from '@durable-streams/client';
import { agUi } from '@intertie/ag-ui';
import { createUIMessageStreamDialect } from '@intertie/ai-sdk';
import { canonical, check } from '@intertie/conformance';
import { foldEvents, type AgentEvent, type Dialect } from '@intertie/core';
import { createParser } from 'eventsource-parser';
import { shown, settled, type ChatMajor } from '../../ai-sdk/test/chats.ts';
import { chatBody, postJson, readEvents } from './client.ts';

export type Scenario = 'answer' | 'tool' | 'approval' | 'error' | 'abort' | 'resume';

export type Case = { base: string; agent: string; thread: string; text: string; scenario: Scenario };

/** What a client ended with, what the store has in the same shape, and what broke a rule of the protocol on the way. */
export type Seen = { client: unknown; stored: unknown; violations: string[] };

export type Protocol = { name: string; talk(one: Case): Promise<Seen> };

type Messages<Message> = { messages: Message[]; live?: unknown };

async function storedMessages<Message>(
  { base, thread }: Case,
  format: 'ui' | 'ag-ui' | 'canonical',
): Promise<Message[]> {
  for (;;) {
    /* oxlint-disable no-await-in-loop -- until the run is over */
    const response = await fetch(`${base}/api/threads/${thread}/messages?format=${format}`);
    const { messages, live } = (await response.json()) as Messages<Message>;
    if (live === undefined) return messages;
    await new Promise((resolve) => setTimeout(resolve, 10));
    /* oxlint-enable no-await-in-loop */
  }
}

/** Records what comes over the wire, response by response. */
function recording(): { fetch: typeof fetch; items: unknown[][] } {
  const items: unknown[][] = [];
  return {
    items,
    fetch: async (input, init) => {
      const response = await fetch(input, init);
      if (!response.body || !response.headers.get('content-type')?.includes('event-stream')) return response;
      const own: unknown[] = [];
      items.push(own);
      const parser = createParser({
        onEvent: ({ data }) => void own.push(data === '[DONE]' ? data : (JSON.parse(data) as unknown)),
      });
      const decoder = new TextDecoder();
      const tap = new TransformStream<Uint8Array, Uint8Array>({
        transform(chunk, controller) {
          parser.feed(decoder.decode(chunk, { stream: true }));
          controller.enqueue(chunk);
        },
      });
      return new Response(response.body.pipeThrough(tap), response);
    },
  };
}

function violationsOf(dialect: Dialect, streams: readonly unknown[][]): string[] {
  return streams.flatMap((items) => check(dialect, items).violations.map(({ rule, message }) => `${rule}: ${message}`));
}

/** Waits until the thread has a live run that has said something. */
async function untilTalking({ base, thread }: Case, seen: () => number): Promise<void> {
  while (seen() < 4) {
    // oxlint-disable-next-line no-await-in-loop -- until it is so
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  const { live } = (await (await fetch(`${base}/api/threads/${thread}`)).json()) as { live?: unknown };
  if (!live) throw new Error('The run was over before it could be disturbed.');
}

const stop = ({ base, agent, thread }: Case): Promise<Response> =>
  postJson(`${base}/api/agents/${agent}/chat/${thread}/stop`, '');
const cut = ({ base, thread }: Case): Promise<Response> => postJson(`${base}/api/dev/wire`, { thread, cut: true });

/** An unmodified `DefaultChatTransport` with the chat of its own major. */
export function chatProtocol({ name, ai, createChat }: ChatMajor): Protocol {
  return {
    name,
    async talk(one) {
      const wire = recording();
      const api = `${one.base}/api/agents/${one.agent}/chat`;
      const chat = createChat({
        id: one.thread,
        transport: new ai.DefaultChatTransport({ api, fetch: wire.fetch }),
        sendAutomaticallyWhen: ai.lastAssistantMessageIsCompleteWithApprovalResponses,
      });
      const sent = chat.sendMessage({ text: one.text });
      const said = (): number => wire.items.at(-1)?.length ?? 0;
      if (one.scenario === 'abort') {
        await untilTalking(one, said);
        await stop(one);
      }
      if (one.scenario === 'resume') {
        await untilTalking(one, said);
        await cut(one);
        await sent;
        wire.items.pop();
        await chat.resumeStream();
      }
      await sent;
      await settled(chat);
      const before = structuredClone(chat.lastMessage);
      if (one.scenario === 'approval') {
        for (const part of before?.parts ?? []) {
          const { approval, state } = part as { approval?: { id: string }; state?: string };
          const isAsked = approval && state === 'approval-requested';
          // oxlint-disable-next-line no-await-in-loop -- one answer after the other
          if (isAsked) await chat.addToolApprovalResponse({ id: approval.id, approved: true });
        }
        await settled(chat);
      }
      const stored = await storedMessages<never>(one, 'ui');
      return {
        client: shown(chat.lastMessage),
        stored: shown(stored.at(-1)),
        violations: wire.items.flatMap((items, index) => {
          // The second stream goes on with the message that the chat has by then.
          const dialect = createUIMessageStreamDialect(index > 0 && before ? { message: before } : {});
          return violationsOf(dialect, [items.filter((item) => item !== '[DONE]')]);
        }),
      };
    },
  };
}

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
    if (one.scenario === 'approval') {
      const interrupts = (client as unknown as { pendingInterrupts: Array<{ id: string }> }).pendingInterrupts;
      const resume = interrupts.map(({ id: interruptId }) => ({
        interruptId,
        status: 'resolved',
        payload: { approved: true },
      }));
      await run({ runId: crypto.randomUUID(), resume });
    }
    const stored = await storedMessages<{ role: string }>(one, 'ag-ui');
    return { client: simple(client.messages), stored: simple(stored), violations: violationsOf(agUi, wire.items) };
  },
};

type AGUIMessage = {
  id: string;
  role: string;
  content?: unknown;
  toolCalls?: Array<{ id: string; function: unknown }>;
};

/** What a page shows of AG-UI messages: who said what, and which tools were called with what result. */
function simple(messages: readonly unknown[]): unknown[] {
  return (
    (messages as AGUIMessage[])
      // A call that was stopped is told to have no result, and that is all there is to its message.
      .filter(({ role, content }) => role !== 'activity' && !(role === 'tool' && content === ''))
      .map(({ id, role, content, toolCalls }) => ({
        id,
        role,
        ...(content !== '' && content !== undefined && { content }),
        ...(toolCalls && { toolCalls: toolCalls.map((call) => ({ id: call.id, function: call.function })) }),
      }))
  );
}

type Stored = { id: string; role: string; content: { parts: unknown[] } };

/** The log of the run, by the client of Durable Streams, folded here. */
export function streamsProtocol(live: 'long-poll' | 'sse'): Protocol {
  return {
    name: `Durable Streams, ${live}`,
    talk: (one) =>
      readLog(one, async (runId, isCut) => {
        const url = `${one.base}/streams/runs/${runId}`;
        const begun = isCut ? await stream<AgentEvent>({ url, live: false }) : undefined;
        const all = begun ? await begun.json() : [];
        const rest = await stream<AgentEvent>({ url, live, ...(begun && { offset: begun.offset }) });
        for await (const event of rest.jsonStream()) all.push(event);
        return all;
      }),
  };
}

/** The canonical events, by `Last-Event-ID`. */
export const eventsProtocol: Protocol = {
  name: 'canonical events',
  talk: (one) =>
    readLog(one, async (runId, isCut) => {
      const all: AgentEvent[] = [];
      let last: string | undefined;
      const read = async (limit: number): Promise<void> => {
        const headers = last === undefined ? undefined : { 'last-event-id': last };
        for await (const { id, data } of readEvents(
          await fetch(`${one.base}/api/runs/${runId}/events`, headers ? { headers } : {}),
        )) {
          all.push(data as AgentEvent);
          last = id;
          if (all.length >= limit) break;
        }
      };
      if (isCut) await read(5);
      await read(Infinity);
      return all;
    }),
};

/** Waits until some words are in the log. */
async function untilSaid({ base }: Case, runId: string): Promise<void> {
  for (let log = ''; !log.includes('-delta"');) {
    // oxlint-disable-next-line no-await-in-loop -- until it is so
    log = await (await fetch(`${base}/api/runs/${runId}/events?live=false`)).text();
  }
}

async function readLog(one: Case, read: (runId: string, isCut: boolean) => Promise<AgentEvent[]>): Promise<Seen> {
  const response = await postJson(`${one.base}/api/agents/${one.agent}/chat`, chatBody(one.thread, one.text));
  const runId = response.headers.get('x-intertie-run')!;
  void response.text().catch(() => undefined);
  const reading = read(runId, one.scenario === 'resume');
  if (one.scenario === 'abort') {
    await untilSaid(one, runId);
    await stop(one);
  }
  let events = await reading;
  const streams: unknown[][] = [events];
  if (one.scenario === 'approval') {
    const { questions } = (await (await fetch(`${one.base}/api/questions?state=open&thread=${one.thread}`)).json()) as {
      questions: Array<{ id: string }>;
    };
    const answers = questions.map(({ id: questionId }) => ({ questionId, approved: true }));
    const answered = (await (await postJson(`${one.base}/api/runs/${runId}/answers`, { answers })).json()) as {
      run: { runId: string };
    };
    events = await read(answered.run.runId, false);
    streams.push(events);
  }
  const stored = await storedMessages<Stored>(one, 'canonical');
  const message = JSON.parse(JSON.stringify(foldEvents(events))) as Stored;
  return {
    client: message.content.parts,
    stored: stored.at(-1)!.content.parts,
    violations: violationsOf(canonical, streams),
  };
}
