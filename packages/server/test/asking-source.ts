import { compose, seal, sourceStream, type AgentEvent, type AgentSource } from '@intertie/core';

/** Source that asks for an approval and a colour, and repeats the answers. Waits until it is stopped for “slow”. */
export function askingSource(): AgentSource {
  return {
    name: 'asker',
    pauses: 'replay',
    run(run, { signal }) {
      const sealed = seal(run, () => undefined);
      const events =
        run.message === undefined ? firstTurn(lastText(run.history)) : secondTurn(run.answers, run.message);
      const open = async function* (stop: AbortSignal): AsyncGenerator<AgentEvent> {
        for (const event of events) {
          if (event !== 'wait') yield event;
          else await new Promise((resolve) => stop.addEventListener('abort', resolve));
        }
      };
      return sourceStream(open, compose({ feed: (event: AgentEvent, emit) => emit(event), end() {} }, sealed), {
        signal,
      });
    },
  };
}

function lastText(history: ReadonlyArray<{ content: { parts: readonly object[] } }>): string {
  return JSON.stringify(history.at(-1)?.content.parts ?? []);
}

function firstTurn(text: string): Array<AgentEvent | 'wait'> {
  const opening: AgentEvent[] = [
    { type: 'agent-start', agentId: 'a', name: 'ann', kind: 'agent' },
    { type: 'reasoning-start', id: 'r', agentId: 'a' },
    { type: 'reasoning-delta', id: 'r', delta: 'I had better ask first.' },
    { type: 'reasoning-end', id: 'r' },
    { type: 'text-start', id: 't', agentId: 'a' },
    { type: 'text-delta', id: 't', delta: 'Let me see.' },
  ];
  if (text.includes('slow')) return [...opening, 'wait'];
  const close: AgentEvent = { type: 'text-end', id: 't' };
  if (!text.includes('paint')) return [...opening, close, { type: 'run-end', outcome: 'complete' }];
  return [
    ...opening,
    close,
    { type: 'tool-call', toolCallId: 'c', toolName: 'paint', input: { wall: 1 }, agentId: 'a', executor: 'runtime' },
    { type: 'question', questionId: 'q1', kind: 'approval', toolCallId: 'c', message: 'May I paint?' },
    { type: 'question', questionId: 'q2', kind: 'input', message: 'Which colour?', schema: { enum: ['red', 'blue'] } },
    {
      type: 'run-end',
      outcome: 'paused',
      waitingFor: [
        { type: 'question', questionId: 'q1' },
        { type: 'question', questionId: 'q2' },
      ],
    },
  ];
}

function secondTurn(answers: readonly object[], message: object): AgentEvent[] {
  // A handler with a store merges the answers into the message; one without passes them separately.
  const text = JSON.stringify([answers, message]);
  const verdict = text.includes('"approved":true') ? 'yes' : 'no';
  const colour = /"value":"(\w+)"/.exec(text)?.[1] ?? 'none';
  return [
    {
      type: 'tool-result',
      toolCallId: 'c',
      ...(verdict === 'yes' ? { status: 'ok', output: 'wet' } : { status: 'denied' }),
    },
    { type: 'text-start', id: 't2', agentId: 'a' },
    { type: 'text-delta', id: 't2', delta: `You said ${verdict} and ${colour}.` },
    { type: 'text-end', id: 't2' },
    { type: 'run-end', outcome: 'complete' },
  ];
}
