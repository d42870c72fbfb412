import type { AgentEvent, JsonObject, Usage } from '@intertie/core';

/** Something that happens, or for how many milliseconds nothing does. */
export type Line = AgentEvent | number;

type Said = { agentId: string; stepId: string };

/** Three agents explain to each other, and so to the reader, what the reader looks at. */
export function* story(runId: string): Generator<Line> {
  const guide = agent(runId, 'Guide', 'Answers, and asks the others');
  const reader = agent(runId, 'Reader', 'Reads logs', guide.agentId);
  const critic = agent(runId, 'Critic', 'Doubts', guide.agentId);

  yield* [60, guide.start];
  yield* step(`${runId}:s1`, guide.agentId, [212, 48], function* plans(said) {
    yield* says('reasoning', `${runId}:r1`, said, 22, [
      'Better shown than told: this answer is a run of its own. I have its log read, and somebody doubt what I make of it.',
    ]);
    yield* says('text', `${runId}:i1`, { ...said, internal: true, to: ['Reader'] }, 26, [
      'Read the log of this run: who is in it, and what is it told as?',
    ]);
  });

  yield* [60, reader.start];
  yield* step(`${runId}:s2`, reader.agentId, [340, 31], (said) => looks(runId, said), 'tool-calls');
  yield* step(`${runId}:s3`, reader.agentId, [402, 27], (said) =>
    says('text', `${runId}:i2`, { ...said, internal: true, to: ['Guide'] }, 26, [
      'Three agents, one call. The same events go out as a UI message stream and as AG-UI.',
    ]),
  );
  yield* [10, reader.end];

  yield* [60, critic.start];
  yield* step(`${runId}:s4`, critic.agentId, [388, 33], (said) =>
    says('text', `${runId}:t2`, said, 30, [
      'One doubt: not every protocol has a place for everything. What does not fit is written down as a *loss*, and never ',
      'dropped in silence.',
    ]),
  );
  yield* [10, critic.end];

  yield* step(`${runId}:s5`, guide.agentId, [510, 96], (said) => answers(runId, said));
  yield* [10, guide.end];
  yield 20;
  yield { type: 'run-end', outcome: 'complete', finishReason: 'stop', usage: [usage(1852, 235)] };
}

function* looks(runId: string, said: Said): Generator<Line> {
  const toolCallId = `${runId}:call-1`;
  const call = { toolCallId, toolName: 'read_log', executor: 'runtime' as const, ...said };
  yield* [40, { type: 'tool-input-start', ...call }];
  for (const delta of `{"run": "${runId}", "follow": true}`.match(/.{1,7}/g) ?? [])
    yield* [24, { type: 'tool-input-delta', toolCallId, delta } as const];
  yield* [5, { type: 'tool-input-end', toolCallId }];
  yield* [5, { type: 'tool-call', input: { run: runId, follow: true }, ...call }];
  const output: JsonObject = {
    agents: ['Guide', 'Reader', 'Critic'],
    toldAs: ['UI message stream', 'AG-UI', 'Durable Streams'],
    kept: 'threads, messages and runs in Postgres',
  };
  yield* [620, { type: 'tool-result', toolCallId, status: 'ok', output }];
}

function* answers(runId: string, said: Said): Generator<Line> {
  yield* says('text', `${runId}:t3`, said, 30, [
    'You are looking at a **recorded run**. Any runtime’s events become one vocabulary, are kept, and go out as whatever a ',
    'front end speaks:\n\n',
    '- **Streams** has it frame by frame: source, canonical event, target protocol.\n',
    '- **Topology** and **Timeline** show who worked, with whom, and when.\n',
    '- **Tape** replays it; the chat is a function of the cursor.\n\n',
    'A page needs one line for it:\n\n```ts\nuseChat({ transport: new IntertieChatTransport() })\n```\n',
  ]);
  yield 20;
  yield {
    type: 'source',
    id: `${runId}:src1`,
    sourceType: 'document',
    title: 'docs/architecture.md',
    mediaType: 'text/markdown',
    filename: 'architecture.md',
    ...said,
  };
}

type Agent = { agentId: string; start: AgentEvent; end: AgentEvent };

function agent(runId: string, name: string, description: string, parentAgentId?: string): Agent {
  const agentId = `${runId}:${name}`;
  const parent = parentAgentId === undefined ? {} : { parentAgentId };
  return {
    agentId,
    start: { type: 'agent-start', agentId, name, kind: 'agent', ...parent, description },
    end: { type: 'agent-end', agentId, outcome: 'complete' },
  };
}

function* step(
  stepId: string,
  agentId: string,
  [input, output]: [input: number, output: number],
  does: (said: Said) => Iterable<Line>,
  finishReason: 'stop' | 'tool-calls' = 'stop',
): Generator<Line> {
  yield* [20, { type: 'step-start', stepId, agentId }];
  yield* does({ agentId, stepId });
  yield* [10, { type: 'step-end', stepId, finishReason, usage: [usage(input, output)] }];
}

/** Word by word, each taking so many milliseconds. */
function* says(
  kind: 'text' | 'reasoning',
  id: string,
  said: Said & { internal?: true; to?: string[] },
  wordMs: number,
  pieces: string[],
): Generator<Line> {
  yield* [40, { type: `${kind}-start`, id, ...said } as const];
  for (const delta of pieces.join('').match(/\S+\s*/g) ?? [])
    yield* [wordMs, { type: `${kind}-delta`, id, delta } as const];
  yield* [10, { type: `${kind}-end`, id } as const];
}

const usage = (inputTokens: number, outputTokens: number): Usage => ({
  model: 'recorded',
  inputTokens,
  outputTokens,
  totalTokens: inputTokens + outputTokens,
});
