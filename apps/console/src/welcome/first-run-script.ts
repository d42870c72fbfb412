import type { AgentEvent, JsonObject, Usage } from '@intertie/core';

/** Event, or a pause in milliseconds. */
export type ScriptItem = AgentEvent | number;

type Attribution = { agentId: string; stepId: string };

/** Script of the run on the welcome screen: three agents explain the console. */
export function* createFirstRunScript(runId: string): Generator<ScriptItem> {
  const guide = createAgent(runId, 'Guide', 'Answers and delegates');
  const reader = createAgent(runId, 'Reader', 'Reads logs', guide.agentId);
  const critic = createAgent(runId, 'Critic', 'Reviews', guide.agentId);

  yield* [60, guide.start];
  yield* step(`${runId}:s1`, guide.agentId, [212, 48], function* plan(by) {
    yield* write('reasoning', `${runId}:r1`, by, 22, [
      'This answer is itself a run, so I can explain it by example. I will have its log read, and my summary reviewed.',
    ]);
    yield* write('text', `${runId}:i1`, { ...by, internal: true, to: ['Reader'] }, 26, [
      'Read the log of this run: which agents take part, and which protocols is it sent in?',
    ]);
  });

  yield* [60, reader.start];
  yield* step(`${runId}:s2`, reader.agentId, [340, 31], (by) => callReadLog(runId, by), 'tool-calls');
  yield* step(`${runId}:s3`, reader.agentId, [402, 27], (by) =>
    write('text', `${runId}:i2`, { ...by, internal: true, to: ['Guide'] }, 26, [
      'Three agents, one tool call. The same events are sent as a UI message stream and as AG-UI.',
    ]),
  );
  yield* [10, reader.end];

  yield* [60, critic.start];
  yield* step(`${runId}:s4`, critic.agentId, [388, 33], (by) =>
    write('text', `${runId}:t2`, by, 30, [
      'One remark: some protocols cannot carry everything. Whatever does not fit is listed with the ',
      'reason, never dropped silently.',
    ]),
  );
  yield* [10, critic.end];

  yield* step(`${runId}:s5`, guide.agentId, [510, 96], (by) => writeAnswer(runId, by));
  yield* [10, guide.end];
  yield 20;
  yield { type: 'run-end', outcome: 'complete', finishReason: 'stop', usage: [usage(1852, 235)] };
}

function* callReadLog(runId: string, by: Attribution): Generator<ScriptItem> {
  const toolCallId = `${runId}:call-1`;
  const call = { toolCallId, toolName: 'read_log', executor: 'runtime' as const, ...by };
  yield* [40, { type: 'tool-input-start', ...call }];
  for (const delta of `{"run": "${runId}", "follow": true}`.match(/.{1,7}/g) ?? [])
    yield* [24, { type: 'tool-input-delta', toolCallId, delta } as const];
  yield* [5, { type: 'tool-input-end', toolCallId }];
  yield* [5, { type: 'tool-call', input: { run: runId, follow: true }, ...call }];
  const output: JsonObject = {
    agents: ['Guide', 'Reader', 'Critic'],
    protocols: ['UI message stream', 'AG-UI', 'Durable Streams'],
    stored: 'threads, messages and runs in Postgres',
  };
  yield* [620, { type: 'tool-result', toolCallId, status: 'ok', output }];
}

function* writeAnswer(runId: string, by: Attribution): Generator<ScriptItem> {
  yield* write('text', `${runId}:t3`, by, 30, [
    'This is a **recorded run**. Intertie converts what any runtime sends to events of one format, stores them, and ',
    'sends them in the protocol that a front end uses:\n\n',
    '- **Streams** shows what the runtime sent, the events, and what the front end receives.\n',
    '- **Topology** and **Timeline** show the agents, their messages and their timing.\n',
    '- **Tape** plays the run again; the chat shows it at every event.\n\n',
    'A page needs one line:\n\n```ts\nuseChat({ transport: new IntertieChatTransport() })\n```\n',
  ]);
  yield 20;
  yield {
    type: 'source',
    id: `${runId}:src1`,
    sourceType: 'document',
    title: 'docs/architecture.md',
    mediaType: 'text/markdown',
    filename: 'architecture.md',
    ...by,
  };
}

type Agent = { agentId: string; start: AgentEvent; end: AgentEvent };

function createAgent(runId: string, name: string, description: string, parentAgentId?: string): Agent {
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
  body: (by: Attribution) => Iterable<ScriptItem>,
  finishReason: 'stop' | 'tool-calls' = 'stop',
): Generator<ScriptItem> {
  yield* [20, { type: 'step-start', stepId, agentId }];
  yield* body({ agentId, stepId });
  yield* [10, { type: 'step-end', stepId, finishReason, usage: [usage(input, output)] }];
}

/** Writes a text word by word, with a pause before each word. */
function* write(
  kind: 'text' | 'reasoning',
  id: string,
  by: Attribution & { internal?: true; to?: string[] },
  wordMs: number,
  pieces: string[],
): Generator<ScriptItem> {
  yield* [40, { type: `${kind}-start`, id, ...by } as const];
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
