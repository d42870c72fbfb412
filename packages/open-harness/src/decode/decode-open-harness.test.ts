import { canonical, check } from '@intertie/conformance';
import { foldEvents, type AgentEvent, type End, type EventOf } from '@intertie/core';
import { describe, expect, test } from 'vitest';
import { decode, decodeTrace } from '../../test/decode.ts';
import { runInput } from '../../test/run-input.ts';
import { findTrace, traces } from '../../test/traces.ts';
import { createFlowState, decodeEvent } from './decode-open-harness.ts';
import { isTerminalEvent } from '../runtime/runtime-event.ts';

const ofType = <Type extends AgentEvent['type']>(events: AgentEvent[], type: Type): Array<EventOf<Type>> =>
  events.filter((event): event is EventOf<Type> => event.type === type);
const getEnd = (events: AgentEvent[]): EventOf<'run-end'> => events.at(-1) as EventOf<'run-end'>;
const getTexts = (events: AgentEvent[]): string[] =>
  (foldEvents(events)?.content.parts ?? []).flatMap((part) => (part.type === 'text' ? [part.text] : []));

const node = { nodeId: 'a', runId: 'n1' };
const started = [
  { type: 'flow:start', flowName: 'flow' },
  { type: 'node:start', ...node },
];
const completed = [
  { type: 'node:complete', ...node, output: {} },
  { type: 'flow:complete', flowName: 'flow', status: 'complete' },
];

describe.each(traces)('trace $name', (trace) => {
  test('decodes to the reviewed events', async () => {
    const { events, losses } = decodeTrace(trace);
    expect(check(canonical, events).violations).toEqual([]);
    expect(losses.filter(({ kind }) => kind === 'repaired')).toEqual([]);
    const lines = [
      ...events.map((event) => JSON.stringify(event)),
      ...losses.map((loss) => `loss ${loss.kind}: ${loss.what}. ${loss.why}`),
    ];
    await expect(`${lines.join('\n')}\n`).toMatchFileSnapshot(`../../fixtures/decoded/${trace.name}.txt`);
  });

  test('follows the canonical rules at every cut and for every kind of end', () => {
    const ends: End[] = [
      { reason: 'eof' },
      { reason: 'aborted', by: 'user' },
      { reason: 'error', error: { message: 'The socket broke.' } },
    ];
    for (let cut = 0; cut <= trace.events.length; cut += 1) {
      for (const end of ends) {
        const { events } = decode(trace.events.slice(0, cut), { end });
        expect(check(canonical, events).violations, `cut at ${cut}`).toEqual([]);
        expect(getEnd(events).type).toBe('run-end');
      }
    }
  });

  test('decodes to the same events with decodeEvent', () => {
    const state = createFlowState(runInput());
    const stepped = trace.events.flatMap((event) => decodeEvent(event, state));
    const whole = decode(trace.events).events.filter(({ type }) => type === 'text-delta' || type === 'tool-call');
    expect(stepped.filter(({ type }) => type === 'text-delta' || type === 'tool-call')).toEqual(whole);
  });
});

test('recognises only flow events as terminal', () => {
  const terminal = new Set(traces.flatMap(({ events }) => events.filter(isTerminalEvent).map(({ type }) => type)));
  expect([...terminal].toSorted()).toEqual(['flow:aborted', 'flow:complete', 'flow:paused']);
});

describe('text', () => {
  test('emits a complete block without deltas and does not repeat one after its deltas', () => {
    expect(getTexts(decodeTrace(findTrace('05')).events)).toEqual(['first block', 'second, plain string']);
    expect(getTexts(decodeTrace(findTrace('01')).events)).toEqual(['Hello, world!']);
  });

  test('emits the end of a complete block that its deltas lack', () => {
    const { events } = decodeTrace(findTrace('v0.2.0-pause'));
    expect(getTexts(events)).toEqual(['you ', 'you said undefined']);
    expect(ofType(events, 'notice')).toMatchObject([{ code: 'malformed' }]);
  });

  test('does not repeat a complete block after a tool call or with different text', () => {
    const { events, losses } = decode([
      ...started,
      { type: 'agent:text:delta', ...node, content: 'Look: ' },
      { type: 'agent:tool', ...node, toolName: 'ls', toolInput: {}, toolOutput: 1 },
      { type: 'agent:text', ...node, content: 'Look:' },
      { type: 'agent:text:delta', ...node, content: 'one' },
      { type: 'agent:text', ...node, content: 'two' },
      ...completed,
    ]);
    expect(getTexts(events)).toEqual(['Look: ', 'one']);
    expect(losses).toMatchObject([{ kind: 'repaired', what: 'agent:text' }]);
  });

  test('separates the text of interleaved sub-agents under their node', () => {
    const { events } = decodeTrace(findTrace('08'));
    expect(getTexts(events)).toEqual(['leftxleftyleftz', 'rightxrightyrightz']);
    const [team, left, right] = ofType(events, 'agent-start');
    expect(team).toMatchObject({ name: 'team', kind: 'node' });
    expect(left).toMatchObject({ name: 'team.left', kind: 'agent', parentAgentId: team!.agentId });
    expect(right).toMatchObject({ name: 'team.right', kind: 'agent', parentAgentId: team!.agentId });
    expect(events).toContainEqual(
      expect.objectContaining({
        type: 'state-delta',
        patch: expect.arrayContaining([{ op: 'add', path: '/team/status', value: 'running' }]) as unknown,
      }),
    );
  });
});

describe('tools', () => {
  const used = (...uses: object[]): AgentEvent[] =>
    decode([...started, ...uses.map((use) => ({ type: 'agent:tool', ...node, ...use })), ...completed]).events;
  const parts = (events: AgentEvent[]): unknown[] =>
    (foldEvents(events)?.content.parts ?? []).flatMap((part) =>
      part.type === 'tool-invocation'
        ? [[part.toolName, part.args, part.state, part.state === 'result' ? part.result : part.error?.message]]
        : [],
    );

  test('emits two calls for two uses of the same tool', () => {
    expect(parts(decodeTrace(findTrace('03')).events)).toEqual([
      ['Read', { file: 'a.txt' }, 'result', { type: 'text', content: 'A' }],
      ['Read', { file: 'b.txt' }, 'result', { type: 'text', content: 'B' }],
      ['Bash', { command: 'false' }, 'error', 'exit code 1'],
    ]);
  });

  test('pairs separate inputs and outputs in the order of the calls', () => {
    const events = used(
      { toolName: 'x', toolInput: { n: 1 } },
      { toolName: 'x', toolInput: { n: 2 } },
      { toolName: 'x', toolOutput: 'first' },
      { toolName: 'x', toolOutput: 'second' },
    );
    expect(parts(events)).toEqual([
      ['x', { n: 1 }, 'result', 'first'],
      ['x', { n: 2 }, 'result', 'second'],
    ]);
  });

  test('emits a call for an output without an input', () => {
    expect(parts(used({ toolName: 'x', toolOutput: 1 }))).toEqual([['x', {}, 'result', 1]]);
    expect(parts(used({ toolName: 'unknown', toolOutput: 1 }))).toEqual([['unknown', {}, 'result', 1]]);
    expect(parts(used({ toolOutput: null }))).toEqual([['unknown', {}, 'result', null]]);
  });

  test('treats an empty error and a missing output as errors', () => {
    expect(parts(used({ toolName: 'x', toolInput: {}, error: '' }))).toEqual([
      ['x', {}, 'error', 'The tool "x" failed without a reason.'],
    ]);
    expect(parts(used({ toolName: 'x', toolInput: {} }))).toEqual([
      ['x', {}, 'error', 'The tool "x" returned no output before its node ended.'],
    ]);
  });

  test('marks only unknown tools as dynamic', () => {
    const { events } = decodeTrace(findTrace('03'), { tools: ['Read'] });
    expect(ofType(events, 'tool-call').map(({ toolName, dynamic }) => [toolName, dynamic])).toEqual([
      ['Read', false],
      ['Read', false],
      ['Bash', true],
    ]);
  });
});

describe('run-end', () => {
  const getOutcome = (name: string): unknown => getEnd(decodeTrace(findTrace(name)).events);

  test.each([
    ['06', { outcome: 'complete' }],
    [
      '10',
      { outcome: 'error', error: { message: 'Node "assistant" failed: socket hang up', code: 'exception', data: {} } },
    ],
    [
      '11',
      { outcome: 'error', error: { message: 'Node "assistant" failed: Reached max turns', code: 'error_max_turns' } },
    ],
    ['12', { outcome: 'complete' }],
    ['14', { outcome: 'error', error: { message: 'Node "assistant" failed: Node execution timed out after 10ms' } }],
    ['17', { outcome: 'paused', waitingFor: [{ type: 'message' }] }],
    ['19', { outcome: 'aborted', reason: 'user cancelled' }],
    ['31', { outcome: 'error', error: { message: 'Unknown node type: nope' } }],
  ])('ends trace %s with the expected outcome', (name, outcome) => {
    expect(getOutcome(name)).toMatchObject(outcome);
  });

  test('reports late events as losses', () => {
    const { losses } = decodeTrace(findTrace('14'));
    expect(losses.filter(({ kind }) => kind === 'late').map(({ what }) => what)).toEqual([
      'agent:text:delta',
      'agent:text:delta',
      'agent:text:delta',
      'agent:text',
      'agent:complete',
    ]);
  });

  test('reports events of a failed node as late if the flow continues', () => {
    const { events, losses } = decode([
      ...started,
      { type: 'node:error', ...node, error: 'timed out' },
      { type: 'agent:text:delta', ...node, content: 'still here' },
      { type: 'node:start', nodeId: 'b', runId: 'n2' },
      { type: 'node:complete', nodeId: 'b', runId: 'n2', output: 1 },
      { type: 'flow:complete', flowName: 'flow', status: 'complete' },
    ]);
    expect(getEnd(events)).toMatchObject({ outcome: 'complete' });
    expect(getTexts(events)).toEqual([]);
    expect(losses).toMatchObject([{ kind: 'late', what: 'agent:text:delta' }]);
  });

  test('adds the resume token to a paused run', () => {
    const { runId } = findTrace('17').snapshot!;
    expect(getEnd(decodeTrace(findTrace('17')).events)).toMatchObject({
      resume: { runId, snapshot: { status: 'paused' } },
    });
  });

  test('decodes a pause and its continuation as two runs', () => {
    const { events, snapshot } = findTrace('16');
    const paused = [...events.slice(0, 9), { type: 'settled', snapshot: { ...snapshot, status: 'paused' } }];
    expect(getEnd(decode(paused).events)).toMatchObject({ outcome: 'paused' });
    const { events: second } = decode(events.slice(9), { run: runInput('please go on') });
    expect(getEnd(second)).toMatchObject({ outcome: 'complete' });
    expect(getTexts(second)).toEqual(['resumed with [please go on]']);
    expect(ofType(second, 'interjection')).toEqual([]);
  });

  test('emits a question for a live pause', () => {
    const { events } = findTrace('16');
    const inputs = [...events.slice(0, 9), { type: 'answered', text: 'please go on' }, ...events.slice(9)];
    const { events: live } = decode(inputs, { pauses: 'live' });
    expect(check(canonical, live).violations).toEqual([]);
    const [question] = ofType(live, 'question');
    expect(ofType(live, 'answer')).toMatchObject([{ questionId: question!.questionId, value: 'please go on' }]);
    expect(getEnd(live)).toMatchObject({ outcome: 'complete' });
    const unanswered = decode([...events.slice(0, 9), { type: 'drained' }], { pauses: 'live' }).events;
    expect(getEnd(unanswered)).toMatchObject({ outcome: 'paused', waitingFor: [{ type: 'question' }] });
  });

  test('discards the text of a failed attempt on retry', () => {
    const { events } = decode([
      ...started,
      { type: 'agent:start', ...node },
      { type: 'agent:text:delta', ...node, content: 'Hel' },
      { type: 'agent:error', ...node, errorType: 'exception', message: 'torn' },
      { type: 'agent:start', ...node },
      { type: 'agent:text', ...node, content: 'Hello' },
      ...completed,
    ]);
    expect(ofType(events, 'step-end')[0]).toMatchObject({ discarded: true });
    expect(getTexts(events)).toEqual(['Hello']);
  });

  test('formats schema issues as readable text', () => {
    const error = JSON.stringify([{ code: 'too_small', path: ['prompt'], message: 'Too small' }]);
    const { events } = decode([
      ...started,
      { type: 'node:error', ...node, error },
      { type: 'flow:complete', flowName: 'flow', status: 'failed' },
    ]);
    const message = 'Node "a" failed: invalid input (prompt: Too small)';
    expect(getEnd(events)).toMatchObject({ error: { message } });
  });
});

describe('flows without agents', () => {
  test('emits no text without nodeText', () => {
    expect(getTexts(decodeTrace(findTrace('28')).events)).toEqual([]);
    expect(getTexts(decodeTrace(findTrace('28'), { nodeText: true }).events)).toEqual(['answer 42']);
    const nodeText = ({ nodeId, output }: { nodeId: string; output: unknown }): string =>
      `${nodeId}=${JSON.stringify(output)}`;
    expect(getTexts(decodeTrace(findTrace('28'), { nodeText }).events)).toEqual([
      'c={"value":"42"}',
      'e={"text":"answer 42"}',
    ]);
    expect(getTexts(decodeTrace(findTrace('01'), { nodeText: true }).events)).toEqual(['Hello, world!']);
  });
});

describe('arbitrary input', () => {
  const nonsense: unknown[] = [null, 7, 'x', [], {}, { type: 3 }, { type: 'flow:unheard-of' }];
  const types = [...new Set(traces.flatMap(({ events }) => events.map(({ type }) => type)))];

  test('decodes or reports every input without throwing', () => {
    const { events } = decode([
      ...nonsense,
      ...types.filter((type) => !type.startsWith('flow:')).map((type) => ({ type })),
    ]);
    expect(check(canonical, events).violations).toEqual([]);
    expect(ofType(events, 'raw').length).toBeGreaterThanOrEqual(nonsense.length);
  });
});
