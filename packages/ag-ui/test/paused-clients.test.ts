import type { Message } from '@ag-ui/core';
import type { AgentEvent, AgentSource } from '@intertie/core';
import type { Waiting } from '@intertie/core/store';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { DurableAGUIHandlerOptions } from '../src/server/ag-ui-handler-options.ts';
import { createAGUIHandler } from '../src/server/create-ag-ui-handler.ts';
import type { AGUIEvent, AGUIRunInput } from '../src/shared/ag-ui-event.ts';
import { frameEvents } from './frame-events.ts';
import { handDriven } from './hand-driven-agent.ts';

const userMessage: Message = { id: 'u1', role: 'user', content: 'Go.' };

type Handler = (request: Request) => Promise<Response>;

function post(handler: Handler, input: Partial<AGUIRunInput>, headers: HeadersInit = {}): Promise<Response> {
  const body = JSON.stringify({ threadId: 'thread-1', runId: 'run-1', messages: [userMessage], ...input });
  return handler(new Request('http://localhost/', { method: 'POST', headers, body }));
}

const readEvents = async (response: Response): Promise<AGUIEvent[]> => frameEvents(await response.text());

const start: AgentEvent = { type: 'run-start', runId: 'run-1', threadId: 'thread-1', messageId: 'answer-run-1' };
const call = (toolCallId: string, executor: 'client' | 'runtime'): AgentEvent => {
  return { type: 'tool-call', toolCallId, toolName: 'act', executor, input: {} };
};
const paused = (...waitingFor: Waiting[]): AgentEvent => ({ type: 'run-end', outcome: 'paused', waitingFor });
const approval = (questionId: string, toolCallId: string): AgentEvent => {
  return { type: 'question', questionId, kind: 'approval', toolCallId, message: `Run ${toolCallId}?` };
};
const clientTool = [start, call('c1', 'client'), paused({ type: 'tool', toolCallId: 'c1' })];
const oneApproval = [
  start,
  call('c1', 'runtime'),
  approval('q1', 'c1'),
  paused({ type: 'question', questionId: 'q1' }),
];
const twoApprovals = [
  start,
  ...['1', '2'].flatMap((n) => [call(`c${n}`, 'runtime'), approval(`q${n}`, `c${n}`)]),
  paused({ type: 'question', questionId: 'q1' }, { type: 'question', questionId: 'q2' }),
];

/** Runs the events as the first run of a durable agent. */
async function runPaused(events: readonly AgentEvent[], options?: DurableAGUIHandlerOptions, headers?: HeadersInit) {
  const driven = await handDriven();
  onTestFinished(() => driven.close());
  const handler = createAGUIHandler(driven.agent, options);
  const first = await post(handler, {}, headers);
  await driven.finish('run-1', events);
  return { ...driven, handler, received: await readEvents(first) };
}

describe('a run that waits for a client tool', () => {
  it.each([
    [undefined, undefined],
    ['0.0.59', undefined],
    ['1.0', { type: 'success', pendingToolCallIds: ['c1'] }],
  ])('finishes for a client of version %s with outcome %o', async (protocolVersion, outcome) => {
    const { received } = await runPaused(clientTool, protocolVersion === undefined ? {} : { protocolVersion });
    const last = received.at(-1);
    expect(last?.type === 'RUN_FINISHED' && last.outcome).toEqual(outcome ?? undefined);
  });

  it('announces its calls to TanStack AI only', async () => {
    const announced = {
      type: 'CUSTOM',
      name: 'tool-input-available',
      value: { toolCallId: 'c1', toolName: 'act', input: {} },
    };
    const tanstack = await runPaused(clientTool, {}, { 'x-run-id': 'run-1' });
    expect(tanstack.received.at(-2)).toEqual(announced);
    const other = await runPaused(clientTool);
    expect(other.received.map(({ type }) => type)).not.toContain('CUSTOM');
  });

  it('keeps the outcome of a run that waits for nothing', async () => {
    const { received } = await runPaused([start, { type: 'run-end', outcome: 'complete' }]);
    expect(received.at(-1)).toMatchObject({ type: 'RUN_FINISHED', outcome: { type: 'success' } });
  });
});

describe('LangGraph interrupts', () => {
  const langgraph = { interrupts: 'langgraph' as const };
  const readInterrupts = (events: readonly AGUIEvent[]) =>
    events.flatMap((event) => (event.type === 'CUSTOM' && event.name === 'on_interrupt' ? [event.value] : []));
  const answer = (command: object): Partial<AGUIRunInput> => ({ runId: 'run-2', forwardedProps: { command } });

  it('are custom events before a RUN_FINISHED without an outcome, also for a client that joins', async () => {
    const { received, handler } = await runPaused(oneApproval, langgraph);
    const joined = await readEvents(await handler(new Request('http://localhost/?threadId=thread-1')));
    for (const events of [received, joined]) {
      expect(readInterrupts(events)).toMatchObject([{ reason: 'tool_call', toolCallId: 'c1', message: 'Run c1?' }]);
      expect(events.at(-1)).toMatchObject({ type: 'RUN_FINISHED' });
      expect(events.at(-1)).not.toHaveProperty('outcome');
    }
  });

  it.each([
    [true, true],
    ['yes', true],
    ['{"approved":true}', true],
    [{ approved: true }, true],
    ['no', false],
    [false, false],
  ])('are answered by command.resume: %o', async (resume, approved) => {
    const { handler, store } = await runPaused(oneApproval, langgraph);
    expect((await post(handler, answer({ resume }))).status).toBe(200);
    const decisions = await store.registry.listDecisions(store.scope, { threadId: 'thread-1' });
    expect(decisions).toMatchObject([{ state: 'answered', answer: { approved } }]);
  });

  it('are answered one by one by their interruptEvent, or together by id', async () => {
    const { handler, store, received } = await runPaused(twoApprovals, langgraph);
    const [first, second] = readInterrupts(received) as Array<{ id: string }>;
    const ambiguous = await post(handler, answer({ resume: true }));
    expect([ambiguous.status, await ambiguous.text()]).toEqual([422, expect.stringContaining('2 open interrupts')]);
    const half = await post(handler, answer({ resume: true, interruptEvent: first }));
    expect(readInterrupts(await readEvents(half))).toMatchObject([{ toolCallId: 'c2' }]);
    await post(handler, answer({ resume: { [second!.id]: 'no' } }));
    const decisions = await store.registry.listDecisions(store.scope, { threadId: 'thread-1' });
    expect(decisions).toMatchObject([{ answer: { approved: true } }, { answer: { approved: false } }]);
  });

  it('are answered without a store by their interruptEvent', async () => {
    const answers: unknown[] = [];
    const source: AgentSource = {
      name: 'asking',
      pauses: 'replay',
      run: ({ answers: given }) => {
        answers.push(...given);
        return new ReadableStream({
          start(controller) {
            for (const event of given.length > 0 ? [start, paused()] : oneApproval) controller.enqueue(event);
            controller.close();
          },
        });
      },
    };
    const handler = createAGUIHandler(source, langgraph);
    const [interruptEvent] = readInterrupts(await readEvents(await post(handler, {})));
    const toolCalls = [{ id: 'c1', type: 'function' as const, function: { name: 'act', arguments: '{}' } }];
    const messages: Message[] = [userMessage, { id: 'c1:call', role: 'assistant', toolCalls }];
    await readEvents(await post(handler, { ...answer({ resume: 'yes', interruptEvent }), messages }));
    expect(answers).toEqual([{ questionId: 'q1', approved: true }]);
  });
});
