import type { EventOf } from '@intertie/core';

import type { RunBuilder } from './run-builder.ts';

/** Selects an item by a random number. */
const select = <T>(list: readonly T[], pick: number): T | undefined => list[pick % Math.max(list.length, 1)];

type Generator = (builder: RunBuilder, pick: number, text: string) => void;

function openPart(kind: 'text' | 'reasoning'): Generator {
  return (builder, pick) => {
    const attribution = builder.attribution(pick);
    const { stepId } = attribution;
    const id = builder.id();
    builder.parts.push({ kind, id, ...(stepId !== undefined && { stepId }) });
    builder.emit({ type: `${kind}-start`, id, ...attribution });
  };
}

const generators: { readonly [name: string]: Generator } = {
  'agent-start': (builder, pick) => {
    const again = pick % 2 === 0 ? builder.take(builder.pausedAgents, pick) : undefined;
    const agentId = again ?? builder.id();
    const parentAgentId = select(builder.agents, pick);
    builder.emit({
      type: 'agent-start',
      agentId,
      name: `agent-${pick % 4}`,
      kind: (['agent', 'node', 'voice'] as const)[pick % 3]!,
      ...(parentAgentId !== undefined && { parentAgentId }),
      at: pick,
    });
    builder.agents.push(agentId);
  },
  'agent-end': (builder, pick) => {
    const agentId = builder.take(builder.agents, pick);
    if (agentId === undefined) return;
    if (pick % 4 === 0) builder.pausedAgents.push(agentId);
    builder.emit({
      type: 'agent-end',
      agentId,
      ...(pick % 2 === 0 && { result: { pick }, usage: [{ inputTokens: pick }] }),
      ...(pick % 4 === 0
        ? { outcome: 'paused' as const, waitingFor: [] }
        : pick % 4 === 1
          ? { outcome: 'error' as const, error: { message: 'no' } }
          : { outcome: 'complete' as const }),
    });
    // A step may outlive its agent: attribution only requires an agent that has started.
  },
  'step-start': (builder, pick) => {
    const agentId = select([undefined, ...builder.agents], pick);
    const step = { stepId: builder.id(), ...(agentId !== undefined && { agentId }) };
    builder.steps.push(step);
    builder.emit({ type: 'step-start', ...step, ...(pick % 2 === 0 && { name: 'a step' }), at: pick });
  },
  'step-end': (builder, pick) => {
    const step = builder.take(builder.steps, pick);
    if (!step) return;
    for (const part of builder.parts.filter(({ stepId }) => stepId === step.stepId)) close(builder, part);
    const discarded = pick % 7 === 0;
    if (discarded) {
      const gone = new Set(builder.calls.filter(({ stepId }) => stepId === step.stepId).map(({ id }) => id));
      builder.calls = builder.calls.filter(({ id }) => !gone.has(id));
      builder.partial = builder.partial.filter(({ stepId }) => stepId !== step.stepId);
      // Later events must not refer to discarded objects.
      builder.questions = [];
      builder.data = [];
      builder.closedParts = [];
    }
    builder.emit({
      type: 'step-end',
      stepId: step.stepId,
      finishReason: 'stop',
      usage: [{ outputTokens: pick }],
      ...(discarded && { discarded: true }),
      ...(pick % 2 === 0 && { response: { id: `r${pick}` }, providerMetadata: { maker: { pick } } }),
    });
  },
  text: openPart('text'),
  reasoning: openPart('reasoning'),
  'tool-input': (builder, pick) => {
    const attribution = builder.attribution(pick);
    const id = builder.id();
    const start: EventOf<'tool-input-start'> = {
      type: 'tool-input-start',
      toolCallId: id,
      toolName: `tool-${pick % 3}`,
      ...attribution,
    };
    builder.parts.push({
      kind: 'tool',
      id,
      start,
      ...(attribution.stepId !== undefined && { stepId: attribution.stepId }),
    });
    builder.emit(start);
  },
  delta: (builder, pick, text) => {
    const part = select(builder.parts, pick);
    if (!part) return;
    const providerMetadata = pick % 6 === 0 ? { providerMetadata: { maker: { delta: pick } } } : {};
    if (part.kind === 'tool')
      builder.emit({ type: 'tool-input-delta', toolCallId: part.id, delta: text, ...providerMetadata });
    else builder.emit({ type: `${part.kind}-delta`, id: part.id, delta: text, ...providerMetadata });
  },
  close: (builder, pick) => {
    const part = select(builder.parts, pick);
    if (part) close(builder, part, pick);
  },
  'tool-call': (builder, pick, text) => {
    const streamed = pick % 2 === 0 ? builder.take(builder.partial, pick) : undefined;
    const call = streamed ?? { toolCallId: builder.id(), toolName: `tool-${pick % 3}`, ...builder.attribution(pick) };
    const invalid = pick % 9 === 0;
    const executor = (['provider', 'runtime', 'client'] as const)[pick % 4];
    builder.emit({
      ...call,
      type: 'tool-call',
      ...(executor && { executor }),
      input: { text },
      ...(invalid && { invalid: { message: 'bad input' } }),
    });
    builder.calls.push({
      id: call.toolCallId,
      ...(call.stepId !== undefined && { stepId: call.stepId }),
      ...(invalid && { invalid }),
    });
  },
  'tool-result': (builder, pick, text) => {
    const preliminary = pick % 4 === 0;
    const call = preliminary ? select(builder.calls, pick) : builder.take(builder.calls, pick);
    if (!call) return;
    const providerMetadata = pick % 5 === 0 ? { providerMetadata: { maker: { pick } } } : {};
    const toolCallId = call.id;
    if (preliminary) {
      builder.emit({
        type: 'tool-result',
        toolCallId,
        status: 'ok',
        output: text,
        preliminary: true,
        ...providerMetadata,
      });
    } else if (call.invalid || pick % 4 === 1) {
      builder.emit({ type: 'tool-result', toolCallId, status: 'error', error: { message: text }, ...providerMetadata });
    } else if (pick % 4 === 2) {
      builder.emit({
        type: 'tool-result',
        toolCallId,
        status: 'denied',
        ...(text !== '' && { reason: text }),
        ...providerMetadata,
      });
    } else {
      const content = pick % 3 === 0 ? { content: true as const } : {};
      builder.emit({ type: 'tool-result', toolCallId, status: 'ok', output: [text], ...content, ...providerMetadata });
    }
  },
  question: (builder, pick, text) => {
    // Questions have their own namespace, so the id may equal that of a part.
    const questionId = `${builder.run.runId}:${builder.asked++}`;
    const call = pick % 2 === 0 ? select(builder.calls, pick) : undefined;
    const agentId = call ? undefined : select(builder.agents, pick);
    builder.questions.push(questionId);
    builder.emit({
      type: 'question',
      questionId,
      kind: call ? 'approval' : 'input',
      ...(call && { toolCallId: call.id }),
      ...(agentId !== undefined && { agentId }),
      message: text,
    });
  },
  answer: (builder, pick, text) => {
    const questionId = builder.take(builder.questions, pick);
    if (questionId === undefined) return;
    builder.emit({ type: 'answer', questionId, ...(pick % 2 === 0 ? { approved: pick % 4 === 0 } : { value: text }) });
  },
  interjection: (builder, pick, text) => {
    builder.emit({
      type: 'interjection',
      id: builder.id(),
      role: 'user',
      parts: [{ type: 'text', text }],
      ...builder.attribution(pick),
    });
  },
  file: (builder, pick, text) => {
    const body =
      pick % 3 === 0
        ? { data: 'aGk=' }
        : pick % 3 === 1
          ? { url: `https://example.com/${pick}` }
          : { reference: { ref: text } };
    builder.emit({ type: 'file', id: builder.id(), mimeType: 'text/plain', ...body, ...builder.attribution(pick) });
  },
  source: (builder, pick, text) => {
    builder.emit({
      type: 'source',
      id: builder.id(),
      sourceType: 'url',
      url: `https://example.com/${pick}`,
      title: text,
      ...builder.attribution(pick),
    });
  },
  data: (builder, pick, text) => {
    const known = pick % 3 === 0 ? select(builder.data, pick) : undefined;
    const transient = known === undefined && pick % 5 === 0;
    const id = known ?? builder.id();
    builder.emit({
      type: 'data',
      id,
      name: known === undefined ? 'note' : 'note again',
      data: { list: [], text },
      ...(known === undefined && builder.attribution(pick)),
      ...(transient && { transient }),
    });
    if (known === undefined && !transient) builder.data.push(id);
  },
  'data-delta': (builder, pick, text) => {
    const id = select(builder.data, pick);
    if (id !== undefined)
      builder.emit({ type: 'data-delta', id, patch: [{ op: 'add', path: '/list/-', value: text }] });
  },
  'state-snapshot': (builder, pick) => {
    builder.hasState = true;
    builder.emit({ type: 'state-snapshot', state: { list: [pick] } });
  },
  'state-delta': (builder, _pick, text) => {
    if (builder.hasState) builder.emit({ type: 'state-delta', patch: [{ op: 'add', path: '/list/0', value: text }] });
  },
  metadata: (builder, pick, text) => {
    const id = pick % 2 === 0 ? select(builder.closedParts, pick) : undefined;
    if (id === undefined) builder.emit({ type: 'metadata', metadata: { [`key-${pick % 3}`]: { text }, list: [pick] } });
    else builder.emit({ type: 'metadata', id, providerMetadata: { maker: { late: pick } } });
  },
  notice: (builder, _pick, text) => builder.emit({ type: 'notice', level: 'info', message: text }),
  checkpoint: (builder, pick) => builder.emit({ type: 'checkpoint', token: { task: `t${pick}` } }),
  raw: (builder, _pick, text) => builder.emit({ type: 'raw', dialect: 'other', value: { text } }),
  'run-end': (builder, pick) => {
    // Rare: otherwise every generated run would be short.
    if (pick !== 7 && pick !== 13) return;
    builder.ended = true;
    builder.emit({
      type: 'run-end',
      outcome: 'complete',
      finishReason: 'stop',
      usage: [{ totalTokens: pick }],
      ...(pick === 7 && { result: { pick }, resume: { task: 't1' }, providerMetadata: { maker: { end: true } } }),
    });
  },
  pause: (builder) => {
    const [call] = builder.calls;
    const [questionId] = builder.questions;
    if (!call && questionId === undefined) return;
    builder.ended = true;
    builder.emit({
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

export const generatorNames: readonly string[] = Object.keys(generators);

/** Emits an event if the run allows one of that kind now. */
export function generateEvent(builder: RunBuilder, name: string, pick: number, text: string): void {
  generators[name]!(builder, pick, text);
}

function close(builder: RunBuilder, part: RunBuilder['parts'][number], pick = 0): void {
  builder.parts = builder.parts.filter(({ id }) => id !== part.id);
  builder.closedParts.push(part.id);
  const providerMetadata = pick % 2 === 1 ? { providerMetadata: { maker: { at: 'end' }, other: { pick } } } : {};
  if (part.kind === 'tool') {
    builder.emit({ type: 'tool-input-end', toolCallId: part.id, ...providerMetadata });
    builder.partial.push(part.start!);
  } else if (part.kind === 'text') {
    builder.emit({
      type: 'text-end',
      id: part.id,
      ...(pick % 3 === 0 && { citations: [{ pick }] }),
      ...providerMetadata,
    });
  } else builder.emit({ type: 'reasoning-end', id: part.id, ...providerMetadata });
}
