import type { LanguageModelV3CallOptions, LanguageModelV3StreamPart } from '@ai-sdk/provider';
import { canonical, check } from '@intertie/conformance';
import { type AgentEvent, type CanonicalMessage, type MessagePart, type RunInput } from '@intertie/core';
import { createResumePoint, type ToolPart } from '@intertie/core/internal';
import { MockLanguageModelV3 } from 'ai/test';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { runControl } from '../../../core/test/run-control.ts';
import { call, collect, createStream, finish, majors, runInput, text } from '../../test/scripted-model.ts';
import { modelSource, type ModelSourceOptions } from './model-source.ts';

const user: CanonicalMessage = {
  id: 'user-1',
  threadId: 'thread-1',
  role: 'user',
  type: 'text',
  content: { format: 2, parts: [{ type: 'text', text: 'hi' }] },
  createdAt: new Date(0),
};
const empty: CanonicalMessage = {
  id: 'message-1',
  threadId: 'thread-1',
  role: 'assistant',
  type: 'text',
  content: { format: 2, parts: [] },
  createdAt: new Date(0),
};

/** Parts of a call whose input is streamed. */
function streamedCall(id: string, toolName: string, input: object): LanguageModelV3StreamPart[] {
  const json = JSON.stringify(input);
  return [
    { type: 'tool-input-start', id, toolName },
    { type: 'tool-input-delta', id, delta: json.slice(0, 3) },
    { type: 'tool-input-delta', id, delta: json.slice(3) },
    { type: 'tool-input-end', id },
    { type: 'tool-call', toolCallId: id, toolName, input: json },
  ];
}

const scripts: LanguageModelV3StreamPart[][] = [
  [
    { type: 'reasoning-start', id: 'r' },
    { type: 'reasoning-delta', id: 'r', delta: 'Hm' },
    { type: 'reasoning-end', id: 'r', providerMetadata: { scripted: { signature: 's' } } },
    ...text('0', 'Look', 'ing'),
    ...streamedCall('c1', 'search', { q: 1 }),
    ...streamedCall('c2', 'pay', { q: 2 }),
    finish('tool-calls'),
  ],
  [...text('0', 'More'), ...streamedCall('c3', 'fetch', { q: 3 }), call('c4', 'send', { q: 4 }), finish('tool-calls')],
  [...text('0', 'All', ' done'), finish()],
];

/** Model whose answer depends only on the prompt: on the number of steps in it. */
function promptedModel(steps = scripts): MockLanguageModelV3 {
  return new MockLanguageModelV3({
    provider: 'scripted.chat',
    modelId: 'scripted-1',
    doStream: async ({ prompt }) => ({ stream: createStream(steps[countResults(prompt)] ?? []) }),
  });
}

function countResults(prompt: LanguageModelV3CallOptions['prompt']): number {
  return prompt.filter(({ role }) => role === 'tool').length;
}

/** What a client shows of a part: without ids, and without what the process created. */
function describePart(part: MessagePart): unknown {
  if (part.type === 'text') return part.text;
  if (part.type === 'reasoning') return { reasoning: part.reasoning };
  if (part.type !== 'tool-invocation') return part;
  return { [part.toolName]: part.state, args: part.args, result: part.result, error: part.error?.code };
}

function isCall(part: MessagePart): part is ToolPart {
  return part.type === 'tool-invocation';
}

describe.each(majors)('$name', ({ ai, major }) => {
  function setUp(more: Partial<ModelSourceOptions> = {}, model = promptedModel()) {
    const ran: string[] = [];
    const createTool = (name: string, isIdempotent: boolean) =>
      ai.tool({
        inputSchema: z.object({ q: z.number() }),
        ...(isIdempotent && { metadata: { idempotent: true } }),
        execute: async ({ q }, { toolCallId }) => {
          ran.push(`${name} ${toolCallId}`);
          return { q };
        },
      });
    const tools = {
      search: createTool('search', true),
      fetch: createTool('fetch', true),
      pay: createTool('pay', false),
      send: createTool('send', false),
    };
    const source = modelSource(model, { streamText: ai.streamText, recover: 'step', tools, ...more });
    return { source, model, ran };
  }

  async function run(given: ReturnType<typeof setUp>, input: Partial<RunInput> = {}): Promise<AgentEvent[]> {
    return collect(given.source.run(runInput({ history: [user], ...input }), runControl()));
  }

  async function resume(
    { source }: ReturnType<typeof setUp>,
    log: readonly AgentEvent[],
    input: Partial<RunInput> = {},
    before = empty,
  ): Promise<{ events: AgentEvent[]; message: CanonicalMessage }> {
    const from = createResumePoint(before, log);
    const stream = source.resume!(runInput({ history: [user], epoch: 2, ...input }), from, runControl());
    const events = [...log, ...(await collect(stream))];
    expect(check(canonical, events).violations).toEqual([]);
    return { events, message: createResumePoint(before, events).message };
  }

  test('continues a run that was cut after any event, and runs no tool twice that is not idempotent', async () => {
    const undisturbed = await run(setUp());
    const expected = createResumePoint(empty, undisturbed).message;
    expect(expected.content.parts.filter(isCall)).toHaveLength(4);
    for (let length = 1; length < undisturbed.length; length++) {
      const log = undisturbed.slice(0, length);
      const cut = `${length} after ${log.at(-1)!.type}`;
      const given = setUp();
      const { events, message } = await resume(given, log);
      expect(events.at(-1), cut).toMatchObject({ type: 'run-end', outcome: 'complete', finishReason: 'stop' });
      const started = log.flatMap((event) => (event.type === 'tool-call' ? [event.toolCallId] : []));
      const settled = new Set(log.flatMap((event) => (event.type === 'tool-result' ? [event.toolCallId] : [])));
      const interrupted = new Set(started.filter((id) => !settled.has(id) && (id === 'c2' || id === 'c4')));
      // A step that is kept may lack the calls that came after the cut.
      const openStep = createResumePoint(empty, log).open.find(({ kind }) => kind === 'step');
      const isCut = openStep !== undefined && log.some((e) => e.type === 'tool-call' && e.stepId === openStep.id);
      const missing = isCut
        ? expected.content.parts.filter(
            (part) => isCall(part) && part.stepId === openStep.id && !started.includes(part.toolCallId),
          )
        : [];
      const parts = message.content.parts.filter((part) => !isCall(part) || part.error?.code !== 'cut-off');
      expect(parts.map(describePart), cut).toEqual(
        expected.content.parts
          .filter((part) => !missing.includes(part))
          .map((part) =>
            isCall(part) && interrupted.has(part.toolCallId)
              ? { ...(describePart(part) as object), [part.toolName]: 'error', result: undefined, error: 'interrupted' }
              : describePart(part),
          ),
      );
      const again = given.ran.filter((name) => started.some((id) => name.endsWith(id)));
      expect(again.toSorted(), cut).toEqual(
        ['fetch c3', 'search c1'].filter((name) => {
          const id = name.slice(-2);
          return started.includes(id) && !settled.has(id);
        }),
      );
      // Nothing of a discarded or cut step stays in the message.
      const steps = Object.keys(message.content.steps ?? {});
      for (const part of message.content.parts) expect(steps, cut).toContain(part.stepId);
    }
  });

  test('does not call the model again if only the end of the run is missing', async () => {
    const undisturbed = await run(setUp());
    const given = setUp();
    const { events } = await resume(given, undisturbed.slice(0, -1));
    expect(given.model.doStreamCalls).toHaveLength(0);
    const end = { ...undisturbed.at(-1)!, at: undefined };
    expect({ ...events.at(-1)!, at: undefined }).toEqual(end);
  });

  test('counts the steps before the takeover for stopWhen and prepareStep', async () => {
    const undisturbed = await run(setUp());
    const cut = undisturbed.findIndex(({ type }) => type === 'step-end') + 1;
    const numbers: number[] = [];
    const given = setUp({
      stopWhen: ai.stepCountIs(2),
      prepareStep: ({ stepNumber, steps }) => {
        numbers.push(stepNumber, steps.length);
        return {};
      },
    });
    const { events } = await resume(given, undisturbed.slice(0, cut));
    expect(given.model.doStreamCalls).toHaveLength(1);
    expect(numbers).toEqual([1, 1]);
    expect(events.at(-1)).toMatchObject({ outcome: 'complete', finishReason: 'tool-calls' });
    const stopped = setUp({ stopWhen: ai.hasToolCall('pay') });
    const end = (await resume(stopped, undisturbed.slice(0, cut))).events.at(-1);
    expect(stopped.model.doStreamCalls).toHaveLength(0);
    expect(end).toMatchObject({ outcome: 'complete', finishReason: 'tool-calls' });
  });

  test('reports an interrupted call to the model, without partial inputs and cut reasoning', async () => {
    const step: LanguageModelV3StreamPart[] = [
      ...streamedCall('c1', 'pay', { q: 1 }),
      { type: 'reasoning-start', id: 'r' },
      { type: 'reasoning-delta', id: 'r', delta: 'Cut off' },
      { type: 'tool-input-start', id: 'c2', toolName: 'pay' },
      { type: 'tool-input-delta', id: 'c2', delta: '{"q' },
      finish('tool-calls'),
    ];
    const model = promptedModel([step, [...text('0', 'Sorry'), finish()]]);
    const undisturbed = await run(setUp({}, model));
    const cut = undisturbed.findLastIndex(({ type }) => type === 'tool-input-delta') + 1;
    const given = setUp({}, promptedModel([step, [...text('0', 'Sorry'), finish()]]));
    const { message } = await resume(given, undisturbed.slice(0, cut));
    expect(given.ran).toEqual([]);
    const prompt = JSON.stringify(given.model.doStreamCalls[0]!.prompt);
    expect(prompt).toContain('Whether the tool had an effect is not known');
    expect(prompt).not.toContain('Cut off');
    expect(prompt).not.toContain('c2');
    expect(message.content.parts.at(-1)).toMatchObject({ type: 'text', text: 'Sorry' });
  });

  test('pauses again for an unanswered approval and a client tool, and runs neither', async () => {
    const given = () => {
      const set = setUp({}, promptedModel([[call('c1', 'ask'), call('c2', 'page'), finish('tool-calls')]]));
      const ran: string[] = [];
      const tools = {
        ask: ai.tool({
          inputSchema: z.object({}),
          needsApproval: true,
          execute: async () => void ran.push('ask'),
        }),
        page: ai.tool({ inputSchema: z.object({}) }),
      };
      const options = { streamText: ai.streamText, recover: 'step', tools } as const;
      return { ...set, ran, source: modelSource(set.model, options) };
    };
    const undisturbed = await run(given());
    const end = undisturbed.at(-1)!;
    expect(end).toMatchObject({ outcome: 'paused' });
    const lastCall = undisturbed.findLastIndex(({ type }) => type === 'tool-call' || type === 'question') + 1;
    for (let length = lastCall; length < undisturbed.length; length++) {
      const resumed = given();
      const { events } = await resume(resumed, undisturbed.slice(0, length));
      const { waitingFor } = events.at(-1) as { waitingFor: unknown[] };
      expect(waitingFor).toEqual(expect.arrayContaining((end as { waitingFor: unknown[] }).waitingFor));
      expect(resumed.ran).toEqual([]);
      expect(resumed.model.doStreamCalls).toHaveLength(0);
    }
  });

  test.each([
    { isIdempotent: false, ran: [], state: 'error' },
    { isIdempotent: true, ran: ['act'], state: 'result' },
  ])(
    'continues a continuation that died after its approval (idempotent: $isIdempotent)',
    async ({ isIdempotent, ran, state }) => {
      const steps = [
        [call('c1', 'act'), finish('tool-calls')],
        [...text('0', 'Done'), finish()],
      ];
      const given = () => {
        const set = setUp({}, promptedModel(steps));
        const executed: string[] = [];
        const act = ai.tool({
          inputSchema: z.object({}),
          needsApproval: true,
          metadata: { idempotent: isIdempotent },
          execute: async () => {
            executed.push('act');
            return 'ok';
          },
        });
        const source = modelSource(set.model, { streamText: ai.streamText, recover: 'step', tools: { act } });
        return { ...set, ran: executed, source };
      };
      const paused = createResumePoint(empty, await run(given())).message;
      const approval = (paused.content.parts[0] as ToolPart).approval!;
      const answer = { questionId: approval.questionId, approved: true };
      const parts = [{ ...paused.content.parts[0]!, approval: { ...approval, answer } } as MessagePart];
      const message = { ...paused.content, parts };
      const input = { runId: 'run-2', resumes: 'run-1', message };
      const before = { ...paused, content: message };
      const undisturbed = await run(given(), input);
      const result = undisturbed.findIndex(({ type }) => type === 'tool-result');
      for (let length = 1; length < undisturbed.length; length++) {
        const resumed = given();
        const after = await resume(resumed, undisturbed.slice(0, length), input, before);
        expect(after.events.at(-1)).toMatchObject({ outcome: 'complete' });
        expect(resumed.ran).toEqual(length > result ? [] : ran);
        const [first, last] = after.message.content.parts;
        expect(first).toMatchObject({ state: length > result ? 'result' : state });
        expect(last).toMatchObject({ text: 'Done' });
        expect(after.message.content.parts).toHaveLength(2);
      }
    },
  );

  test('does not run an idempotent tool that needs approval if its question was not logged', async () => {
    const steps = [
      [call('c1', 'remove'), finish('tool-calls')],
      [...text('0', 'Removed'), finish()],
    ];
    const ways = [{ needsApproval: true }, ...(major === 7 ? [{ toolApproval: { remove: 'user-approval' } }] : [])];
    for (const { needsApproval, ...settings } of ways as Array<{ needsApproval?: boolean }>) {
      const ran: string[] = [];
      const execute = async () => void ran.push('remove');
      const remove = ai.tool({
        inputSchema: z.object({}),
        metadata: { idempotent: true },
        execute,
        ...(needsApproval && { needsApproval }),
      });
      const given = () => setUp({ tools: { remove }, ...settings }, promptedModel(steps));
      const undisturbed = await run(given());
      // The call is committed while the decision about it is being stored.
      const length = undisturbed.findIndex(({ type }) => type === 'question');
      const { message } = await resume(given(), undisturbed.slice(0, length));
      expect(ran).toEqual([]);
      expect(message.content.parts[0]).toMatchObject({ state: 'error', error: { code: 'interrupted' } });
    }
  });

  test('does not show a call whose input was cut off to a stop condition', async () => {
    const steps = [
      [call('c1', 'search', { q: 1 }), ...streamedCall('c2', 'answer', { q: 2 }), finish('tool-calls')],
      [call('c3', 'answer', { q: 3 }), finish('tool-calls')],
    ];
    const search = ai.tool({ inputSchema: z.object({ q: z.number() }), execute: async () => 'found' });
    const given = () =>
      setUp({ tools: { search, answer: search }, stopWhen: ai.hasToolCall('answer') }, promptedModel(steps));
    const undisturbed = await run(given());
    const length = undisturbed.findIndex(({ type }) => type === 'tool-input-delta') + 1;
    const { events, message } = await resume(given(), undisturbed.slice(0, length));
    expect(message.content.parts.at(-1)).toMatchObject({ toolName: 'answer', state: 'result', result: 'found' });
    // The next takeover finds the call that the first one has ended.
    const ended = events.findLastIndex(({ type }) => type === 'step-start');
    const again = await resume(given(), events.slice(0, ended), { epoch: 3 });
    expect(again.message.content.parts.at(-1)).toMatchObject({ toolName: 'answer', state: 'result' });
  });

  test('ends a call whose input was cut off with an error, so that no page waits for it', async () => {
    const steps = [
      [call('c1', 'search', { q: 1 }), ...streamedCall('c2', 'pay', { q: 2 }), finish('tool-calls')],
      [...text('0', 'Done'), finish()],
    ];
    const undisturbed = await run(setUp({}, promptedModel(steps)));
    const length = undisturbed.findIndex(({ type }) => type === 'tool-input-delta') + 1;
    const given = setUp({}, promptedModel(steps));
    const { message } = await resume(given, undisturbed.slice(0, length));
    const cutOff = { toolCallId: 'c2', state: 'error', invalid: true, error: { code: 'cut-off' } };
    expect(message.content.parts.find((part) => isCall(part) && part.toolName === 'pay')).toMatchObject(cutOff);
    expect(given.ran).toEqual(['search c1']);
    expect(JSON.stringify(given.model.doStreamCalls[0]!.prompt)).not.toContain('c2');
  });

  test('gives stop conditions the details of the usage', async () => {
    const given = () =>
      setUp({
        stopWhen: ({ steps }) => steps.reduce((sum, { usage }) => sum + usage.inputTokenDetails.noCacheTokens!, 0) > 99,
      });
    const undisturbed = await run(given());
    const cut = undisturbed.findIndex(({ type }) => type === 'step-end') + 1;
    const { events } = await resume(given(), undisturbed.slice(0, cut));
    expect(events.at(-1)).toMatchObject({ outcome: 'complete' });
  });

  test('leaves cut reasoning out of the prompt after a second takeover', async () => {
    const steps: LanguageModelV3StreamPart[][] = [
      [
        { type: 'reasoning-start', id: 'r' },
        { type: 'reasoning-delta', id: 'r', delta: 'Cut off' },
        call('c1', 'pay', { q: 1 }),
        { type: 'reasoning-end', id: 'r', providerMetadata: { scripted: { signature: 's' } } },
        finish('tool-calls'),
      ],
      [...text('0', 'Sorry'), finish()],
    ];
    const undisturbed = await run(setUp({}, promptedModel(steps)));
    const log = undisturbed.slice(0, undisturbed.findIndex(({ type }) => type === 'tool-call') + 1);
    const recovered: AgentEvent = { type: 'notice', level: 'info', code: 'recovered', message: 'Recovered' };
    const { events } = await resume(setUp({}, promptedModel(steps)), [...log, recovered]);
    for (let length = log.length + 1; length < events.length; length += 1) {
      const second = setUp({}, promptedModel(steps));
      await resume(second, [...events.slice(0, length), recovered], { epoch: 3 });
      for (const { prompt } of second.model.doStreamCalls) expect(JSON.stringify(prompt)).not.toContain('Cut off');
    }
  });

  test('does not call the model again after its last step because a provider call has no result', async () => {
    const web = { type: 'provider', id: 'scripted.web', isProviderExecuted: true, args: {}, inputSchema: z.object({}) };
    const steps: LanguageModelV3StreamPart[][] = [
      [
        { type: 'tool-call', toolCallId: 'p1', toolName: 'web', input: '{}', providerExecuted: true },
        ...text('0', 'Done'),
        finish(),
      ],
    ];
    const given = () => setUp({ tools: { web: web as never } }, promptedModel(steps));
    const undisturbed = await run(given());
    const resumed = given();
    await resume(resumed, undisturbed.slice(0, -1));
    expect(resumed.model.doStreamCalls).toHaveLength(0);
  });

  test('has no `resume` without the option', () => {
    expect(setUp({ recover: undefined as never }).source.resume).toBeUndefined();
  });
});
