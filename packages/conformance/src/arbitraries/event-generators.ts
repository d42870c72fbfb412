import type { EventOf } from '@intertie/core';

import type { RunStage } from './run-builder.ts';

const of = <T>(list: readonly T[], pick: number): T | undefined => list[pick % Math.max(list.length, 1)];

const moves: { readonly [name: string]: (stage: RunStage, pick: number, text: string) => void } = {
  'agent-start': (stage, pick) => {
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
  'agent-end': (stage, pick) => {
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
  'step-start': (stage, pick) => {
    const agentId = of([undefined, ...stage.agents], pick);
    const step = { stepId: stage.id(), ...(agentId !== undefined && { agentId }) };
    stage.steps.push(step);
    stage.emit({ type: 'step-start', ...step, ...(pick % 2 === 0 && { name: 'a step' }), at: pick });
  },
  'step-end': (stage, pick) => {
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
  text: (stage, pick) => {
    const said = stage.said(pick);
    const part = { kind: 'text' as const, id: stage.id(), ...(said.stepId !== undefined && { stepId: said.stepId }) };
    stage.parts.push(part);
    stage.emit({ type: 'text-start', id: part.id, ...said });
  },
  reasoning: (stage, pick) => {
    const said = stage.said(pick);
    const part = {
      kind: 'reasoning' as const,
      id: stage.id(),
      ...(said.stepId !== undefined && { stepId: said.stepId }),
    };
    stage.parts.push(part);
    stage.emit({ type: 'reasoning-start', id: part.id, ...said });
  },
  'tool-input': (stage, pick) => {
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
  delta: (stage, pick, text) => {
    const part = of(stage.parts, pick);
    if (!part) return;
    const providerMetadata = pick % 6 === 0 ? { providerMetadata: { maker: { delta: pick } } } : {};
    if (part.kind === 'tool')
      stage.emit({ type: 'tool-input-delta', toolCallId: part.id, delta: text, ...providerMetadata });
    else stage.emit({ type: `${part.kind}-delta`, id: part.id, delta: text, ...providerMetadata });
  },
  close: (stage, pick) => {
    const part = of(stage.parts, pick);
    if (part) close(stage, part, pick);
  },
  'tool-call': (stage, pick, text) => {
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
  'tool-result': (stage, pick, text) => {
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
  question: (stage, pick, text) => {
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
  answer: (stage, pick, text) => {
    const questionId = stage.take(stage.questions, pick);
    if (questionId === undefined) return;
    stage.emit({ type: 'answer', questionId, ...(pick % 2 === 0 ? { approved: pick % 4 === 0 } : { value: text }) });
  },
  interjection: (stage, pick, text) => {
    stage.emit({
      type: 'interjection',
      id: stage.id(),
      role: 'user',
      parts: [{ type: 'text', text }],
      ...stage.said(pick),
    });
  },
  file: (stage, pick, text) => {
    const body =
      pick % 3 === 0
        ? { data: 'aGk=' }
        : pick % 3 === 1
          ? { url: `https://example.com/${pick}` }
          : { reference: { ref: text } };
    stage.emit({ type: 'file', id: stage.id(), mimeType: 'text/plain', ...body, ...stage.said(pick) });
  },
  source: (stage, pick, text) => {
    stage.emit({
      type: 'source',
      id: stage.id(),
      sourceType: 'url',
      url: `https://example.com/${pick}`,
      title: text,
      ...stage.said(pick),
    });
  },
  data: (stage, pick, text) => {
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
  'data-delta': (stage, pick, text) => {
    const id = of(stage.data, pick);
    if (id !== undefined) stage.emit({ type: 'data-delta', id, patch: [{ op: 'add', path: '/list/-', value: text }] });
  },
  'state-snapshot': (stage, pick) => {
    stage.hasState = true;
    stage.emit({ type: 'state-snapshot', state: { list: [pick] } });
  },
  'state-delta': (stage, _pick, text) => {
    if (stage.hasState) stage.emit({ type: 'state-delta', patch: [{ op: 'add', path: '/list/0', value: text }] });
  },
  metadata: (stage, pick, text) => {
    const id = pick % 2 === 0 ? of(stage.closedParts, pick) : undefined;
    if (id === undefined) stage.emit({ type: 'metadata', metadata: { [`key-${pick % 3}`]: { text }, list: [pick] } });
    else stage.emit({ type: 'metadata', id, providerMetadata: { maker: { late: pick } } });
  },
  notice: (stage, _pick, text) => stage.emit({ type: 'notice', level: 'info', message: text }),
  raw: (stage, _pick, text) => stage.emit({ type: 'raw', dialect: 'other', value: { text } }),
  'run-end': (stage, pick) => {
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
  pause: (stage) => {
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

/** What may happen next in a run. */
export const moveNames: readonly string[] = Object.keys(moves);

/** Makes a move if it is allowed right now. */
export function makeMove(stage: RunStage, name: string, pick: number, text: string): void {
  moves[name]!(stage, pick, text);
}

function close(stage: RunStage, part: RunStage['parts'][number], pick = 0): void {
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
