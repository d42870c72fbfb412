import { seal, sourceStream, type AgentEvent, type AgentSource, type Json, type RunInput } from '@intertie/core';

const trip = {
  type: 'object',
  required: ['city', 'nights'],
  properties: {
    city: { type: 'string', title: 'City', description: 'Where to' },
    nights: { type: 'integer', title: 'Nights' },
    class: { enum: ['first', 'second'], title: 'Class', default: 'second' },
    breakfast: { type: 'boolean', title: 'Breakfast' },
  },
};

/** A source that asks people in every way there is, and says what it was told. What it is asked decides how it asks. */
export const askingSource: AgentSource = {
  name: 'asking',
  pauses: 'replay',
  run: (run, { signal }) => sourceStream(play(run.message ? heard(run) : asks(run)), seal(run, ignore), { signal }),
};

/** A source that waits for its answer inside its process. */
export const waitingSource: AgentSource = {
  name: 'waiting',
  pauses: 'live',
  run: (run, { signal, liveAnswers }) => {
    async function* lines(): AsyncGenerator<AgentEvent> {
      const questionId = `${run.runId}:which`;
      yield* says(`${run.runId}:before`, 'I am in the middle of it.');
      yield { type: 'question', questionId, kind: 'input', message: 'Which way?', schema: { enum: ['left', 'right'] } };
      for await (const answer of liveAnswers) {
        if (answer.questionId !== questionId) continue;
        yield { type: 'answer', ...answer };
        yield* says(`${run.runId}:after`, `Then ${JSON.stringify(answer.value)}.`);
        break;
      }
      yield { type: 'run-end', outcome: 'complete', finishReason: 'stop' };
    }
    return sourceStream(lines(), seal(run, ignore), { signal });
  },
};

function* asks(run: RunInput): Generator<AgentEvent> {
  const [part] = run.history.at(-1)?.content.parts ?? [];
  const words = part?.type === 'text' ? part.text : '';
  if (words.includes('form')) yield* givesForm(run);
  else if (words.includes('question')) yield* question(run);
  else yield* twoApprovals(run);
}

/** The client is to run a tool whose result has a shape. */
function* givesForm(run: RunInput): Generator<AgentEvent> {
  const toolCallId = `${run.runId}:book`;
  yield {
    type: 'tool-call',
    toolCallId,
    toolName: 'book_trip',
    executor: 'client',
    input: { budget: 400 },
    toolMetadata: { outputSchema: trip },
  };
  yield { type: 'run-end', outcome: 'paused', waitingFor: [{ type: 'tool', toolCallId }] };
}

function* question(run: RunInput): Generator<AgentEvent> {
  const questionId = `${run.runId}:when`;
  yield { type: 'question', questionId, kind: 'input', message: 'Which trip?', schema: trip };
  yield { type: 'run-end', outcome: 'paused', waitingFor: [{ type: 'question', questionId }] };
}

function* twoApprovals(run: RunInput): Generator<AgentEvent> {
  const calls = ['delete_draft', 'send_letter'].map((toolName) => ({
    toolName,
    toolCallId: `${run.runId}:${toolName}`,
  }));
  for (const call of calls) yield { type: 'tool-call', ...call, executor: 'runtime', input: { to: 'Ada' } };
  for (const { toolCallId } of calls)
    yield { type: 'question', questionId: `may:${toolCallId}`, kind: 'approval', toolCallId };
  const waitingFor = calls.map(({ toolCallId }) => ({ type: 'question' as const, questionId: `may:${toolCallId}` }));
  yield { type: 'run-end', outcome: 'paused', waitingFor };
}

/** Goes on with what people said. */
function* heard(run: RunInput): Generator<AgentEvent> {
  const said: Json[] = [];
  for (const part of run.message?.parts ?? []) {
    if (part.type === 'question') said.push(part.answer?.value ?? null);
    if (part.type !== 'tool-invocation') continue;
    const { toolCallId, approval, result } = part;
    if (approval === undefined) {
      said.push(result ?? null);
      continue;
    }
    const isGranted = approval.answer?.approved === true;
    said.push(`${part.toolName} ${isGranted ? 'yes' : 'no'}`);
    yield isGranted
      ? { type: 'tool-result', toolCallId, status: 'ok', output: 'done' }
      : { type: 'tool-result', toolCallId, status: 'denied' };
  }
  yield* says(`${run.runId}:heard`, `Told: ${JSON.stringify(said)}`);
  yield { type: 'run-end', outcome: 'complete', finishReason: 'stop' };
}

function* says(id: string, delta: string): Generator<AgentEvent> {
  yield { type: 'text-start', id };
  yield { type: 'text-delta', id, delta };
  yield { type: 'text-end', id };
}

async function* play(lines: Iterable<AgentEvent>): AsyncGenerator<AgentEvent> {
  yield* lines;
}

const ignore = (): void => undefined;
