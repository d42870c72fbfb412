import {
  foldEvents,
  seal,
  transcode,
  type AgentEvent,
  type End,
  type EventOf,
  type Json,
  type Meta,
  type RunInput,
} from '@intertie/core';
import fc from 'fast-check';

/** A run as a source would make it: what it was asked, what its decoder emitted, and how the input ended. */
export type ArbitraryRun = { run: RunInput; events: AgentEvent[]; end: End };

/**
 * Random runs that keep the grammar: agents, steps and parts that interleave, tools in every state, questions, state and
 * data patches, and every way to end. Cut `events` wherever you like, `seal` still has to make a whole run of it.
 */
export function arbitraryRun(): fc.Arbitrary<ArbitraryRun> {
  return fc
    .record({
      choices: choiceList(),
      end: arbitraryEnd(),
      state: fc.option(fc.constant<Json>({ list: [] }), { nil: undefined }),
    })
    .map(({ choices, end, state }) => {
      const run = runInput('run-1', { ...(state !== undefined && { state }) });
      return { run, events: play(run, choices), end };
    });
}

/** A run that pauses, and the run that continues its message. */
export function arbitraryContinuation(): fc.Arbitrary<{ paused: ArbitraryRun; continued: ArbitraryRun }> {
  return fc.record({ first: choiceList(), second: choiceList(), end: arbitraryEnd() }).map(({ first, second, end }) => {
    const run = runInput('run-1');
    const events = play(run, [...first.filter((choice) => choice[0] !== 'run-end'), ['pause', 0, '']]);
    const paused = { run, events, end: { reason: 'eof' } as End };
    const message = foldEvents(
      transcode(
        seal(run, () => undefined),
        events,
        paused.end,
      ),
    )!;
    const next = runInput('run-2', { resumes: 'run-1', message: message.content });
    return { paused, continued: { run: next, events: play(next, second), end } };
  });
}

function runInput(runId: string, more: Partial<RunInput> = {}): RunInput {
  return {
    runId,
    threadId: 'thread-1',
    messageId: 'message-1',
    parentMessageId: 'message-0',
    startedAt: 1_700_000_000_000,
    history: [],
    answers: [],
    tools: [],
    context: [],
    ...more,
  };
}

export function arbitraryEnd(): fc.Arbitrary<End> {
  return fc.oneof(
    fc.constant<End>({ reason: 'eof' }),
    fc.constant<End>({ reason: 'aborted', by: 'user' }),
    fc.constant<End>({ reason: 'aborted', by: 'system', message: 'shutdown' }),
    fc.constant<End>({ reason: 'error', error: { message: 'The socket closed.', code: 'socket' } }),
  );
}

type Move = keyof typeof moves;
type Choice = [move: Move, pick: number, text: string];

function choiceList(): fc.Arbitrary<Choice[]> {
  const text = fc.oneof(fc.string({ maxLength: 6 }), fc.constantFrom('\u0000', '\ud800', 'é🙂', ''));
  const move = fc.constantFrom<Move>(...(Object.keys(moves) as Move[]));
  return fc.array(fc.tuple(move, fc.nat(50), text), { maxLength: 60, size: 'max' });
}

/** What is known while a run is played. Each move emits something that is allowed right now, or nothing. */
class Stage {
  readonly events: AgentEvent[] = [];
  readonly run: RunInput;
  n = 0;
  asked = 0;
  agents: string[] = [];
  pausedAgents: string[] = [];
  steps: Array<{ stepId: string; agentId?: string }> = [];
  parts: Array<{
    kind: 'text' | 'reasoning' | 'tool';
    id: string;
    stepId?: string;
    start?: EventOf<'tool-input-start'>;
  }> = [];
  partial: Array<EventOf<'tool-input-start'>> = [];
  calls: Array<{ id: string; stepId?: string; invalid?: true }> = [];
  closedParts: string[] = [];
  questions: string[] = [];
  data: string[] = [];
  hasState: boolean;
  ended = false;

  constructor(run: RunInput) {
    this.run = run;
    this.hasState = run.state !== undefined;
    for (const part of run.message?.parts ?? []) {
      if (part.type === 'tool-invocation') {
        if (part.state === 'call') this.calls.push({ id: part.toolCallId, ...(part.invalid && { invalid: true }) });
        if (part.approval && !part.approval.answer) this.questions.push(part.approval.questionId);
      } else if (part.type === 'question') {
        if (!part.answer) this.questions.push(part.questionId);
      } else if (part.type === 'data') this.data.push(part.id!);
    }
    for (const [agentId, { outcome }] of Object.entries(run.message?.agents ?? {})) {
      if (outcome === 'paused') this.pausedAgents.push(agentId);
    }
  }

  emit(event: AgentEvent): void {
    this.events.push(event);
  }

  id(): string {
    return `${this.run.runId}:${this.n++}`;
  }

  /** Some open step with its agent, some agent, or nobody. */
  said(pick: number): { agentId?: string; stepId?: string; internal?: true; to?: string[]; providerMetadata?: Meta } {
    const more = {
      ...(pick % 5 === 0 && { internal: true as const, to: ['someone'] }),
      ...(pick % 3 === 0 && { providerMetadata: { maker: { at: 'start', pick } } }),
    };
    const step = this.steps[pick % (this.steps.length + 1)];
    if (step) return { ...step, ...more };
    const agentId = this.agents[pick % (this.agents.length + 1)];
    return agentId === undefined ? more : { agentId, ...more };
  }

  /** Takes out one of a list. */
  take<T>(list: T[], pick: number): T | undefined {
    return list.length === 0 ? undefined : list.splice(pick % list.length, 1)[0];
  }
}

const of = <T>(list: readonly T[], pick: number): T | undefined => list[pick % Math.max(list.length, 1)];

const moves = {
  'agent-start': (stage: Stage, pick: number) => {
    const again = pick % 2 === 0 ? stage.take(stage.pausedAgents, pick) : undefined;
    const agentId = again ?? stage.id();
    const parentAgentId = of(stage.agents, pick);
    stage.emit({
      type: 'agent-start',
      agentId,
      name: `agent-${pick % 4}`,
      kind: (['agent', 'node', 'voice'] as const)[pick % 3]!,
      ...(parentAgentId !== undefined && { parentAgentId }),
      at: pick,
    });
    stage.agents.push(agentId);
  },
  'agent-end': (stage: Stage, pick: number) => {
    const agentId = stage.take(stage.agents, pick);
    if (agentId === undefined) return;
    if (pick % 4 === 0) stage.pausedAgents.push(agentId);
    stage.emit({
      type: 'agent-end',
      agentId,
      ...(pick % 2 === 0 && { result: { pick }, usage: [{ inputTokens: pick }] }),
      ...(pick % 4 === 0
        ? { outcome: 'paused' as const, waitingFor: [] }
        : pick % 4 === 1
          ? { outcome: 'error' as const, error: { message: 'no' } }
          : { outcome: 'complete' as const }),
    });
    // A step of an agent that has ended may go on: attribution only needs an agent that has started.
  },
  'step-start': (stage: Stage, pick: number) => {
    const agentId = of([undefined, ...stage.agents], pick);
    const step = { stepId: stage.id(), ...(agentId !== undefined && { agentId }) };
    stage.steps.push(step);
    stage.emit({ type: 'step-start', ...step, ...(pick % 2 === 0 && { name: 'a step' }), at: pick });
  },
  'step-end': (stage: Stage, pick: number) => {
    const step = stage.take(stage.steps, pick);
    if (!step) return;
    for (const part of stage.parts.filter(({ stepId }) => stepId === step.stepId)) close(stage, part);
    const discarded = pick % 7 === 0;
    if (discarded) {
      const gone = new Set(stage.calls.filter(({ stepId }) => stepId === step.stepId).map(({ id }) => id));
      stage.calls = stage.calls.filter(({ id }) => !gone.has(id));
      stage.partial = stage.partial.filter(({ stepId }) => stepId !== step.stepId);
      // What was discarded is referred to no more.
      stage.questions = [];
      stage.data = [];
      stage.closedParts = [];
    }
    stage.emit({
      type: 'step-end',
      stepId: step.stepId,
      finishReason: 'stop',
      usage: [{ outputTokens: pick }],
      ...(discarded && { discarded: true }),
      ...(pick % 2 === 0 && { response: { id: `r${pick}` }, providerMetadata: { maker: { pick } } }),
    });
  },
  text: (stage: Stage, pick: number) => {
    const said = stage.said(pick);
    const part = { kind: 'text' as const, id: stage.id(), ...(said.stepId !== undefined && { stepId: said.stepId }) };
    stage.parts.push(part);
    stage.emit({ type: 'text-start', id: part.id, ...said });
  },
  reasoning: (stage: Stage, pick: number) => {
    const said = stage.said(pick);
    const part = {
      kind: 'reasoning' as const,
      id: stage.id(),
      ...(said.stepId !== undefined && { stepId: said.stepId }),
    };
    stage.parts.push(part);
    stage.emit({ type: 'reasoning-start', id: part.id, ...said });
  },
  'tool-input': (stage: Stage, pick: number) => {
    const said = stage.said(pick);
    const id = stage.id();
    const start: EventOf<'tool-input-start'> = {
      type: 'tool-input-start',
      toolCallId: id,
      toolName: `tool-${pick % 3}`,
      ...said,
    };
    stage.parts.push({ kind: 'tool', id, start, ...(said.stepId !== undefined && { stepId: said.stepId }) });
    stage.emit(start);
  },
  delta: (stage: Stage, pick: number, text: string) => {
    const part = of(stage.parts, pick);
    if (!part) return;
    const providerMetadata = pick % 6 === 0 ? { providerMetadata: { maker: { delta: pick } } } : {};
    if (part.kind === 'tool')
      stage.emit({ type: 'tool-input-delta', toolCallId: part.id, delta: text, ...providerMetadata });
    else stage.emit({ type: `${part.kind}-delta`, id: part.id, delta: text, ...providerMetadata });
  },
  close: (stage: Stage, pick: number) => {
    const part = of(stage.parts, pick);
    if (part) close(stage, part, pick);
  },
  'tool-call': (stage: Stage, pick: number, text: string) => {
    const streamed = pick % 2 === 0 ? stage.take(stage.partial, pick) : undefined;
    const { type: _, ...said } = streamed ?? {
      type: '',
      toolCallId: stage.id(),
      toolName: `tool-${pick % 3}`,
      ...stage.said(pick),
    };
    const invalid = pick % 9 === 0;
    const executor = (['provider', 'runtime', 'client'] as const)[pick % 4];
    stage.emit({
      type: 'tool-call',
      ...said,
      ...(executor && { executor }),
      input: { text },
      ...(invalid && { invalid: { message: 'bad input' } }),
    });
    const call = { id: said.toolCallId, ...(said.stepId !== undefined && { stepId: said.stepId }) };
    stage.calls.push(invalid ? { ...call, invalid: true } : call);
  },
  'tool-result': (stage: Stage, pick: number, text: string) => {
    const preliminary = pick % 4 === 0;
    const call = preliminary ? of(stage.calls, pick) : stage.take(stage.calls, pick);
    if (!call) return;
    const providerMetadata = pick % 5 === 0 ? { providerMetadata: { maker: { pick } } } : {};
    const toolCallId = call.id;
    if (preliminary) {
      stage.emit({
        type: 'tool-result',
        toolCallId,
        status: 'ok',
        output: text,
        preliminary: true,
        ...providerMetadata,
      });
    } else if (call.invalid || pick % 4 === 1) {
      stage.emit({ type: 'tool-result', toolCallId, status: 'error', error: { message: text }, ...providerMetadata });
    } else if (pick % 4 === 2) {
      stage.emit({
        type: 'tool-result',
        toolCallId,
        status: 'denied',
        ...(text !== '' && { reason: text }),
        ...providerMetadata,
      });
    } else {
      const content = pick % 3 === 0 ? { content: true as const } : {};
      stage.emit({ type: 'tool-result', toolCallId, status: 'ok', output: [text], ...content, ...providerMetadata });
    }
  },
  question: (stage: Stage, pick: number, text: string) => {
    // A name space of its own: the id may be that of a part.
    const questionId = `${stage.run.runId}:${stage.asked++}`;
    const call = pick % 2 === 0 ? of(stage.calls, pick) : undefined;
    const agentId = call ? undefined : of(stage.agents, pick);
    stage.questions.push(questionId);
    stage.emit({
      type: 'question',
      questionId,
      kind: call ? 'approval' : 'input',
      ...(call && { toolCallId: call.id }),
      ...(agentId !== undefined && { agentId }),
      message: text,
    });
  },
  answer: (stage: Stage, pick: number, text: string) => {
    const questionId = stage.take(stage.questions, pick);
    if (questionId === undefined) return;
    stage.emit({ type: 'answer', questionId, ...(pick % 2 === 0 ? { approved: pick % 4 === 0 } : { value: text }) });
  },
  interjection: (stage: Stage, pick: number, text: string) => {
    stage.emit({
      type: 'interjection',
      id: stage.id(),
      role: 'user',
      parts: [{ type: 'text', text }],
      ...stage.said(pick),
    });
  },
  file: (stage: Stage, pick: number, text: string) => {
    const body =
      pick % 3 === 0
        ? { data: 'aGk=' }
        : pick % 3 === 1
          ? { url: `https://example.com/${pick}` }
          : { reference: { ref: text } };
    stage.emit({ type: 'file', id: stage.id(), mimeType: 'text/plain', ...body, ...stage.said(pick) });
  },
  source: (stage: Stage, pick: number, text: string) => {
    stage.emit({
      type: 'source',
      id: stage.id(),
      sourceType: 'url',
      url: `https://example.com/${pick}`,
      title: text,
      ...stage.said(pick),
    });
  },
  data: (stage: Stage, pick: number, text: string) => {
    const known = pick % 3 === 0 ? of(stage.data, pick) : undefined;
    const transient = known === undefined && pick % 5 === 0;
    const id = known ?? stage.id();
    stage.emit({
      type: 'data',
      id,
      name: known === undefined ? 'note' : 'note again',
      data: { list: [], text },
      ...(known === undefined && stage.said(pick)),
      ...(transient && { transient }),
    });
    if (known === undefined && !transient) stage.data.push(id);
  },
  'data-delta': (stage: Stage, pick: number, text: string) => {
    const id = of(stage.data, pick);
    if (id !== undefined) stage.emit({ type: 'data-delta', id, patch: [{ op: 'add', path: '/list/-', value: text }] });
  },
  'state-snapshot': (stage: Stage, pick: number) => {
    stage.hasState = true;
    stage.emit({ type: 'state-snapshot', state: { list: [pick] } });
  },
  'state-delta': (stage: Stage, _pick: number, text: string) => {
    if (stage.hasState) stage.emit({ type: 'state-delta', patch: [{ op: 'add', path: '/list/0', value: text }] });
  },
  metadata: (stage: Stage, pick: number, text: string) => {
    const id = pick % 2 === 0 ? of(stage.closedParts, pick) : undefined;
    if (id === undefined) stage.emit({ type: 'metadata', metadata: { [`key-${pick % 3}`]: { text }, list: [pick] } });
    else stage.emit({ type: 'metadata', id, providerMetadata: { maker: { late: pick } } });
  },
  notice: (stage: Stage, _pick: number, text: string) => stage.emit({ type: 'notice', level: 'info', message: text }),
  raw: (stage: Stage, _pick: number, text: string) => stage.emit({ type: 'raw', dialect: 'other', value: { text } }),
  'run-end': (stage: Stage, pick: number) => {
    // Rare, or every run would be short.
    if (pick !== 7 && pick !== 13) return;
    stage.ended = true;
    stage.emit({
      type: 'run-end',
      outcome: 'complete',
      finishReason: 'stop',
      usage: [{ totalTokens: pick }],
      ...(pick === 7 && { result: { pick }, resume: { task: 't1' }, providerMetadata: { maker: { end: true } } }),
    });
  },
  pause: (stage: Stage) => {
    const [call] = stage.calls;
    const [questionId] = stage.questions;
    if (!call && questionId === undefined) return;
    stage.ended = true;
    stage.emit({
      type: 'run-end',
      outcome: 'paused',
      waitingFor: [
        ...(call && !call.invalid ? [{ type: 'tool' as const, toolCallId: call.id }] : []),
        ...(questionId === undefined ? [] : [{ type: 'question' as const, questionId }]),
        { type: 'message' as const },
      ],
    });
  },
};

function close(stage: Stage, part: Stage['parts'][number], pick = 0): void {
  stage.parts = stage.parts.filter(({ id }) => id !== part.id);
  stage.closedParts.push(part.id);
  const providerMetadata = pick % 2 === 1 ? { providerMetadata: { maker: { at: 'end' }, other: { pick } } } : {};
  if (part.kind === 'tool') {
    stage.emit({ type: 'tool-input-end', toolCallId: part.id, ...providerMetadata });
    stage.partial.push(part.start!);
  } else if (part.kind === 'text') {
    stage.emit({
      type: 'text-end',
      id: part.id,
      ...(pick % 3 === 0 && { citations: [{ pick }] }),
      ...providerMetadata,
    });
  } else stage.emit({ type: 'reasoning-end', id: part.id, ...providerMetadata });
}

function play(run: RunInput, choices: readonly Choice[]): AgentEvent[] {
  const stage = new Stage(run);
  for (const [move, pick, text] of choices) {
    if (move === 'pause' && pick > 2) continue;
    moves[move](stage, pick, text);
    if (stage.ended) break;
  }
  return stage.events;
}
