import type { AgentEvent, MessageContent, RunInput } from '@intertie/core';

/** An event, or a pause in milliseconds. */
export type Line = AgentEvent | number;

/** Pause after each delta, in milliseconds. */
const deltaDelay = 28;

/** Creates the events of one agent in one step. Ids are unique in the thread because they begin with the run id. */
class ScriptedAgent {
  readonly agentId: string;
  readonly stepId: string;
  #run: RunInput;
  #name: string;

  constructor(run: RunInput, name: string) {
    this.#run = run;
    this.#name = name;
    this.agentId = `${run.runId}:${name}`;
    this.stepId = `${run.runId}:${name}:step`;
  }

  *start(): Generator<Line> {
    yield { type: 'agent-start', agentId: this.agentId, name: this.#name, kind: 'agent' };
    yield { type: 'step-start', stepId: this.stepId, agentId: this.agentId };
  }

  *end(): Generator<Line> {
    yield { type: 'step-end', stepId: this.stepId, finishReason: 'stop' };
    yield { type: 'agent-end', agentId: this.agentId, outcome: 'complete' };
  }

  *text(name: string, text: string): Generator<Line> {
    const id = this.#id(name);
    yield { type: 'text-start', id, ...this.#origin() };
    for (const delta of splitWords(text)) yield* [{ type: 'text-delta', id, delta } as const, deltaDelay];
    yield { type: 'text-end', id };
  }

  *reasoning(name: string, text: string): Generator<Line> {
    const id = this.#id(name);
    yield { type: 'reasoning-start', id, ...this.#origin() };
    for (const delta of splitWords(text)) yield* [{ type: 'reasoning-delta', id, delta } as const, deltaDelay];
    yield { type: 'reasoning-end', id };
  }

  /** Streams the input of a call like a model. The result is separate. */
  *callTool(toolName: string, input: { [key: string]: string | number }): Generator<Line, string> {
    const toolCallId = this.#id(toolName);
    const call = { toolCallId, toolName, executor: 'runtime' as const, ...this.#origin() };
    yield { type: 'tool-input-start', ...call };
    for (const delta of JSON.stringify(input).match(/.{1,6}/gs) ?? []) {
      yield* [{ type: 'tool-input-delta', toolCallId, delta } as const, deltaDelay];
    }
    yield { type: 'tool-input-end', toolCallId };
    yield { type: 'tool-call', input, ...call };
    return toolCallId;
  }

  #id(name: string): string {
    return `${this.#run.runId}:${this.#name}:${name}`;
  }

  #origin(): { agentId: string; stepId: string } {
    return { agentId: this.agentId, stepId: this.stepId };
  }
}

/** Scripts three agents that investigate a slow build and ask before they change anything. */
export function* investigate(run: RunInput): Generator<Line> {
  const planner = new ScriptedAgent(run, 'Planner');
  const reader = new ScriptedAgent(run, 'Log reader');
  const critic = new ScriptedAgent(run, 'Critic');

  yield* planner.start();
  yield 300;
  yield* planner.reasoning(
    'thought',
    'The log of the last build will say where the time goes. One agent reads it; another doubts what it finds. ' +
      'Whatever changes the machine is asked about first.',
  );
  yield* planner.text('plan', 'I will have the last build’s log read, and its findings checked.');
  yield* planner.end();

  yield* reader.start();
  const log = yield* reader.callTool('read_log', { build: 1812, from: 'ci' });
  yield 700;
  const output = { lines: 4210, seconds: 418, slowest: ['type checking', 'tests', 'bundling'] };
  yield { type: 'tool-result', toolCallId: log, status: 'ok', output };
  yield* critic.start();
  // Both emit text concurrently, like agents that work in parallel.
  yield* interleave(
    reader.text(
      'findings',
      'Of **418 s**, the type checker takes *231 s*:\n\n' +
        '- type checking: `231 s`, every package from scratch\n- tests: `120 s`\n- bundling: `67 s`\n',
    ),
    critic.text(
      'doubt',
      'It starts from scratch because the cache on the build machine is *broken*: 0 of 61 entries were used.',
    ),
  );
  yield* reader.end();
  yield 200;
  const clear = yield* critic.callTool('clear_cache', { machine: 'build-3', entries: 61 });
  const questionId = `${run.runId}:may-clear`;
  yield {
    type: 'question',
    questionId,
    kind: 'approval',
    toolCallId: clear,
    message: 'This deletes the cache of build-3. The next build will be slow once more.',
  };
  yield { type: 'step-end', stepId: critic.stepId, finishReason: 'tool-calls' };
  yield { type: 'run-end', outcome: 'paused', waitingFor: [{ type: 'question', questionId }] };
}

/** Continues the message after the user's decision. */
export function* continueInvestigation(run: RunInput, message: MessageContent): Generator<Line> {
  const call = message.parts.find(
    (part) => part.type === 'tool-invocation' && part.state === 'call' && part.approval?.answer,
  );
  const planner = new ScriptedAgent(run, 'Planner');
  if (call?.type !== 'tool-invocation') {
    yield* planner.start();
    yield* planner.text('nothing', 'There is nothing that I wait for. Ask me something else.');
    yield* planner.end();
    yield { type: 'run-end', outcome: 'complete', finishReason: 'stop' };
    return;
  }
  const { toolCallId, approval } = call;
  const isGranted = approval?.answer?.approved === true;
  yield 500;
  if (isGranted) {
    yield { type: 'tool-result', toolCallId, status: 'ok', output: { removed: 61, freed: '2.4 GB' } };
  } else {
    const { reason } = approval?.answer ?? {};
    yield { type: 'tool-result', toolCallId, status: 'denied', ...(reason !== undefined && { reason }) };
  }
  yield* planner.start();
  yield* planner.text(
    'answer',
    isGranted
      ? 'Done: **61 entries** are gone. The next build fills the cache again; from the one after that on, I expect about ' +
          '`190 s` instead of `418 s`.\n\n```sh\nnpm run build -- --timing   # see for yourself\n```\n'
      : 'Fine, the cache stays. Then the cheapest step is to type-check only what has changed:\n\n' +
          '```sh\ntsc -b --incremental\n```\n\nThat alone saves about *two minutes* of every build.',
  );
  yield* planner.end();
  yield { type: 'run-end', outcome: 'complete', finishReason: 'stop' };
}

export function* makeSmallTalk(run: RunInput, text: string): Generator<Line> {
  const planner = new ScriptedAgent(run, 'Planner');
  yield* planner.start();
  yield 200;
  yield* planner.reasoning('thought', 'There is no model behind this page, only a script.');
  const quoted = text.length > 60 ? `${text.slice(0, 60)}…` : text;
  yield* planner.text(
    'answer',
    `You said “${quoted}”. I am a **script** and know one story: ask *why the build is slow*, and three agents will look into it.`,
  );
  yield* planner.end();
  yield { type: 'run-end', outcome: 'complete', finishReason: 'stop' };
}

/** Interleaves several scripts, one line of each in turn. */
function* interleave(...scripts: Array<Iterator<Line>>): Generator<Line> {
  for (let open = scripts; open.length > 0;) {
    const next = [];
    for (const script of open) {
      const { done, value } = script.next();
      if (done) continue;
      yield value;
      next.push(script);
    }
    open = next;
  }
}

function splitWords(text: string): string[] {
  return text.match(/\S+\s*/g) ?? [];
}
