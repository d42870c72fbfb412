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

/** Source that asks for approvals, client tools or answers, depending on the prompt, and then echoes the decisions. */
export const questionSource: AgentSource = {
  name: 'questions',
  pauses: 'replay',
  run: (run, { signal }) => sourceStream(play(run.message ? echo(run) : ask(run)), seal(run, ignore), { signal }),
};

/** Source that waits for its answer within the process. */
export const liveQuestionSource: AgentSource = {
  name: 'live-question',
  pauses: 'live',
  run: (run, { signal, liveAnswers }) => {
    async function* events(): AsyncGenerator<AgentEvent> {
      const questionId = `${run.runId}:which`;
      yield* text(`${run.runId}:before`, 'I am in the middle of it.');
      yield { type: 'question', questionId, kind: 'input', message: 'Which way?', schema: { enum: ['left', 'right'] } };
      for await (const answer of liveAnswers) {
        if (answer.questionId !== questionId) continue;
        yield { type: 'answer', ...answer };
        yield* text(`${run.runId}:after`, `Then ${JSON.stringify(answer.value)}.`);
        break;
      }
      yield { type: 'run-end', outcome: 'complete', finishReason: 'stop' };
    }
    return sourceStream(events(), seal(run, ignore), { signal });
  },
};

function* ask(run: RunInput): Generator<AgentEvent> {
  const [part] = run.history.at(-1)?.content.parts ?? [];
  const prompt = part?.type === 'text' ? part.text : '';
  if (prompt.includes('form')) yield* callClientTool(run);
  else if (prompt.includes('question')) yield* askQuestion(run);
  else yield* askTwoApprovals(run);
}

/** Calls a client tool that declares the schema of its result. */
function* callClientTool(run: RunInput): Generator<AgentEvent> {
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

function* askQuestion(run: RunInput): Generator<AgentEvent> {
  const questionId = `${run.runId}:when`;
  yield { type: 'question', questionId, kind: 'input', message: 'Which trip?', schema: trip };
  yield { type: 'run-end', outcome: 'paused', waitingFor: [{ type: 'question', questionId }] };
}

function* askTwoApprovals(run: RunInput): Generator<AgentEvent> {
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

/** Echoes the decisions of the user. */
function* echo(run: RunInput): Generator<AgentEvent> {
  const decisions: Json[] = [];
  for (const part of run.message?.parts ?? []) {
    if (part.type === 'question') decisions.push(part.answer?.value ?? null);
    if (part.type !== 'tool-invocation') continue;
    const { toolCallId, approval, result } = part;
    if (approval === undefined) {
      decisions.push(result ?? null);
      continue;
    }
    const isApproved = approval.answer?.approved === true;
    decisions.push(`${part.toolName} ${isApproved ? 'yes' : 'no'}`);
    yield isApproved
      ? { type: 'tool-result', toolCallId, status: 'ok', output: 'done' }
      : { type: 'tool-result', toolCallId, status: 'denied' };
  }
  yield* text(`${run.runId}:echo`, `Received: ${JSON.stringify(decisions)}`);
  yield { type: 'run-end', outcome: 'complete', finishReason: 'stop' };
}

function* text(id: string, delta: string): Generator<AgentEvent> {
  yield { type: 'text-start', id };
  yield { type: 'text-delta', id, delta };
  yield { type: 'text-end', id };
}

async function* play(events: Iterable<AgentEvent>): AsyncGenerator<AgentEvent> {
  yield* events;
}

const ignore = (): void => undefined;
