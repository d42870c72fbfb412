import { compose, seal, sourceStream, type AgentEvent, type AgentSource, type RunInput } from '@intertie/core';

/** Source that calls the first tool that its client offers, and repeats the result. Without tools it repeats the last message. */
export function toolSource(): AgentSource {
  return scriptedSource('caller', 'replay', async function* (run) {
    const [tool] = run.tools;
    const toolCallId = `call_${run.runId}`;
    const called = run.message?.parts.find((part) => part.type === 'tool-invocation');
    if (tool && !called) {
      yield { type: 'tool-call', toolCallId, toolName: tool.name, input: { city: 'Oslo' }, executor: 'client' };
      yield { type: 'run-end', outcome: 'paused', waitingFor: [{ type: 'tool', toolCallId }] };
      return;
    }
    const sent = run.history.at(-1)?.content.parts ?? [];
    yield* text(
      `${run.runId}:t`,
      called ? `The tool returned ${JSON.stringify(called.result)}.` : `You sent ${show(sent)}.`,
    );
    yield { type: 'run-end', outcome: 'complete', usage: [{ inputTokens: 1, outputTokens: 2 }] };
  });
}

/** Source that waits for an approval inside its process. */
export function liveSource(): AgentSource {
  return scriptedSource('live', 'live', async function* (run, answers) {
    const questionId = `q_${run.runId}`;
    yield* text(`${run.runId}:1`, 'May I?');
    yield { type: 'question', questionId, kind: 'approval', message: 'May I?' };
    for await (const answer of answers) {
      yield { type: 'answer', ...answer };
      yield* text(`${run.runId}:2`, answer.approved ? 'Thank you.' : 'What a pity.');
      break;
    }
    yield { type: 'run-end', outcome: 'complete' };
  });
}

/** Source whose first step is discarded, as after the death of a process. */
export function retryingSource(): AgentSource {
  return scriptedSource('retry', 'replay', async function* ({ runId }) {
    for (const [stepId, answer] of [
      ['s1', 'wrong'],
      ['s2', 'right'],
    ] as const) {
      yield { type: 'step-start', stepId: `${runId}:${stepId}` };
      yield* text(`${runId}:${stepId}:t`, answer, { stepId: `${runId}:${stepId}` });
      yield { type: 'step-end', stepId: `${runId}:${stepId}`, ...(stepId === 's1' && { discarded: true }) };
    }
    yield { type: 'run-end', outcome: 'complete' };
  });
}

function* text(id: string, delta: string, more: { stepId?: string } = {}): Generator<AgentEvent> {
  yield { type: 'text-start', id, ...more };
  yield { type: 'text-delta', id, delta };
  yield { type: 'text-end', id };
}

type Script = (
  run: RunInput,
  answers: Parameters<AgentSource['run']>[1]['liveAnswers'],
) => AsyncGenerator<AgentEvent, void>;

function scriptedSource(name: string, pauses: AgentSource['pauses'], script: Script): AgentSource {
  const pass = { feed: (event: AgentEvent, emit: (event: AgentEvent) => void) => emit(event), end() {} };
  return {
    name,
    pauses,
    run(run, { signal, liveAnswers }) {
      const sealed = seal(run, () => undefined);
      return sourceStream(() => script(run, liveAnswers), compose(pass, sealed), { signal });
    },
  };
}

function show(parts: ReadonlyArray<{ type: string; text?: string; mimeType?: string; data?: unknown }>): string {
  return parts
    .map(({ type, text: sent, mimeType, data }) => (type === 'text' ? sent : `${mimeType} ${String(data)}`))
    .join(' and ');
}
