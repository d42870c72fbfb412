import type { AgentEvent, CanonicalMessage, EventOf, Json, MessagePart, Meta } from '@intertie/core';
import { applyPatch } from '@intertie/core/internal';

/**
 * Reference model of the fold: stateless, quadratic and simple enough to be checked by reading. Each part is computed from
 * all events of the run.
 */
export function slowFold(events: AgentEvent[]): CanonicalMessage {
  const start = events[0] as EventOf<'run-start'>;
  const baseline = events.find((event) => event.type === 'message-snapshot')?.content;
  const gone = findDiscardedSteps(events);
  const opened: Array<{ part: MessagePart; after: number }> = (baseline?.parts ?? []).map((part) => ({
    part,
    after: 1,
  }));
  for (const [index, event] of events.entries()) {
    const part = openPart(event, events, index, baseline?.parts ?? []);
    if (part) opened.push({ part, after: index + 1 });
  }
  const discarded = ({ part, after }: (typeof opened)[number]): boolean =>
    part.stepId !== undefined && (gone.get(part.stepId) ?? -1) >= after;
  const discardedCalls = new Set(
    opened.flatMap((entry) =>
      discarded(entry) && entry.part.type === 'tool-invocation' ? [entry.part.toolCallId] : [],
    ),
  );
  const parts = opened
    .filter((entry) => !discarded(entry))
    .filter(({ part }) => !(part.type === 'question' && discardedCalls.has(part.toolCallId ?? '')))
    .map(({ part, after }) => events.slice(after).reduce(applyEvent, part));

  const metadata = events
    .flatMap((event) => (event.type === 'metadata' && event.id === undefined ? [event.metadata] : []))
    .reduce<Json | undefined>(deepMerge, baseline?.metadata);
  const end = events.find((event) => event.type === 'run-end');
  const states = events.filter((event) => event.type === 'state-snapshot' || event.type === 'state-delta');
  const state = states.reduce<Json | undefined>(
    (value, event) => (event.type === 'state-snapshot' ? event.state : applyDelta(value ?? {}, event)),
    undefined,
  );
  const agents = collectEntries(events, baseline?.agents, agentEntry);
  const steps = collectEntries(events, baseline?.steps, stepEntry);
  for (const stepId of gone.keys()) delete steps?.[stepId];
  const providerMetadata = mergeMeta(baseline?.providerMetadata, end?.providerMetadata);
  return withoutUndefined({
    id: start.messageId,
    threadId: start.threadId,
    role: 'assistant',
    type: 'text',
    createdAt: new Date(start.at!),
    parentId: start.parentMessageId,
    runId: start.runId,
    status: end?.outcome ?? 'streaming',
    state,
    sourceState: end?.resume,
    content: withoutUndefined({
      format: 2,
      parts,
      metadata,
      providerMetadata,
      agents,
      steps: steps && Object.keys(steps).length > 0 ? steps : undefined,
      runs: end ? [...(baseline?.runs ?? []), runEntry(start.runId, end, parts.length)] : baseline?.runs,
    }),
  }) as CanonicalMessage;
}

function findDiscardedSteps(events: AgentEvent[]): Map<string, number> {
  const found = new Map<string, number>();
  for (const [index, event] of events.entries())
    if (event.type === 'step-end' && event.discarded) found.set(event.stepId, index);
  return found;
}

/** The part that an event opens, before any later event is applied. */
function openPart(
  event: AgentEvent,
  events: AgentEvent[],
  index: number,
  baseline: MessagePart[],
): MessagePart | undefined {
  const before = events.slice(0, index);
  switch (event.type) {
    case 'text-start':
      return { ...omit(event, 'type', 'at'), type: 'text', text: '' };
    case 'reasoning-start':
      return { ...omit(event, 'type', 'at'), type: 'reasoning', reasoning: '' };
    case 'tool-input-start':
      return {
        ...omit(event, 'type', 'at'),
        type: 'tool-invocation',
        state: 'partial-call',
        argsText: '',
      } as MessagePart;
    case 'tool-call':
      if (before.some((other) => other.type === 'tool-input-start' && other.toolCallId === event.toolCallId))
        return undefined;
      return applyCall({ type: 'tool-invocation' } as MessagePart, event);
    case 'interjection':
    case 'file':
    case 'source':
      return omit(event, 'at') as MessagePart;
    case 'data': {
      if (event.transient || baseline.some((part) => part.id === event.id)) return undefined;
      const gone = findDiscardedSteps(before);
      const lives = before.some(
        (other, at) =>
          other.type === 'data' &&
          !other.transient &&
          other.id === event.id &&
          !((gone.get(other.stepId ?? '') ?? -1) > at),
      );
      return lives ? undefined : (omit(event, 'at', 'transient') as MessagePart);
    }
    case 'question':
      return isApproval(event, before, baseline) ? undefined : (omit(event, 'at') as MessagePart);
    default:
      return undefined;
  }
}

/** The first question about an existing call is its approval. */
function isApproval({ toolCallId }: EventOf<'question'>, before: AgentEvent[], baseline: MessagePart[]): boolean {
  if (toolCallId === undefined) return false;
  const asked = before.some((other) => other.type === 'question' && other.toolCallId === toolCallId);
  const stored = baseline.find((part) => part.type === 'tool-invocation' && part.toolCallId === toolCallId);
  return !asked && !(stored?.type === 'tool-invocation' && stored.approval);
}

/** Applies a later event to a part. */
function applyEvent(part: MessagePart, event: AgentEvent): MessagePart {
  const ids = [part.id, 'toolCallId' in part && part.type === 'tool-invocation' ? part.toolCallId : undefined];
  const about =
    'id' in event && event.id !== undefined ? event.id : 'toolCallId' in event ? event.toolCallId : undefined;
  const mine = about !== undefined && ids.includes(about);
  switch (event.type) {
    case 'text-delta':
      return mine && part.type === 'text'
        ? withMeta({ ...part, text: part.text + event.delta }, event.providerMetadata)
        : part;
    case 'reasoning-delta':
      return mine && part.type === 'reasoning'
        ? withMeta({ ...part, reasoning: part.reasoning + event.delta }, event.providerMetadata)
        : part;
    case 'tool-input-delta':
      return mine && part.type === 'tool-invocation'
        ? withMeta({ ...part, argsText: part.argsText! + event.delta }, event.providerMetadata)
        : part;
    case 'text-end':
      if (!mine) return part;
      return withMeta(
        event.citations ? ({ ...part, citations: event.citations } as MessagePart) : part,
        event.providerMetadata,
      );
    case 'reasoning-end':
    case 'tool-input-end':
      return mine ? withMeta(part, event.providerMetadata) : part;
    case 'metadata':
      return mine && event.id !== undefined ? withMeta(part, event.providerMetadata) : part;
    case 'tool-call':
      return mine && part.type === 'tool-invocation' ? applyCall(part, event) : part;
    case 'tool-result':
      return mine ? applyResult(part, event) : part;
    case 'question':
      if (part.type !== 'tool-invocation' || event.toolCallId !== part.toolCallId || part.approval) return part;
      return { ...part, approval: omit(event, 'type', 'at', 'agentId') as never };
    case 'answer': {
      const answer = omit(event, 'type', 'at') as never;
      if (part.type === 'question')
        return part.questionId === event.questionId && !part.answer ? { ...part, answer } : part;
      if (part.type !== 'tool-invocation' || part.approval?.questionId !== event.questionId || part.approval.answer)
        return part;
      return { ...part, approval: { ...part.approval, answer } };
    }
    case 'data':
      if (!mine || event.transient || part.type !== 'data') return part;
      return withMeta({ ...part, name: event.name, data: event.data }, event.providerMetadata);
    case 'data-delta':
      return mine && part.type === 'data' ? { ...part, data: applyDelta(part.data, event) } : part;
    default:
      return part;
  }
}

function applyCall(part: MessagePart, event: EventOf<'tool-call'>): MessagePart {
  const whole = {
    ...omit(event, 'type', 'at', 'input', 'invalid'),
    ...omit(part, 'argsText'),
    state: 'call',
    args: event.input,
    ...(event.invalid && { invalid: true, error: event.invalid }),
    providerMetadata: mergeMeta(part.providerMetadata, event.providerMetadata),
  };
  return withoutUndefined(whole) as MessagePart;
}

function applyResult(part: MessagePart, event: EventOf<'tool-result'>): MessagePart {
  if (part.type !== 'tool-invocation') return part;
  const rest = omit(part, 'result', 'resultContent', 'preliminary');
  const resultMetadata = mergeMeta(part.resultMetadata, event.providerMetadata);
  if (event.status === 'ok') {
    return withoutUndefined({
      ...rest,
      result: event.output,
      resultContent: event.content,
      preliminary: event.preliminary,
      resultMetadata,
      state: event.preliminary ? part.state : 'result',
    }) as MessagePart;
  }
  const error =
    event.status === 'error' ? event.error : event.reason === undefined ? part.error : { message: event.reason };
  return withoutUndefined({ ...rest, error, resultMetadata, state: event.status }) as MessagePart;
}

function agentEntry(event: AgentEvent, before: object | undefined): [string, object] | undefined {
  if (event.type === 'agent-start') return [event.agentId, omit(event, 'type', 'at', 'agentId')];
  if (event.type !== 'agent-end') return undefined;
  const { outcome, result, usage } = event;
  const error = event.outcome === 'error' ? event.error : undefined;
  return [event.agentId, { ...before, ...withoutUndefined({ outcome, result, usage, error }) }];
}

function stepEntry(event: AgentEvent, before: object | undefined): [string, object] | undefined {
  if (event.type === 'step-start') return [event.stepId, omit(event, 'type', 'at', 'stepId', 'warnings')];
  if (event.type !== 'step-end') return undefined;
  return [event.stepId, { ...before, ...omit(event, 'type', 'at', 'stepId', 'warnings', 'discarded') }];
}

function collectEntries(
  events: AgentEvent[],
  baseline: { [id: string]: object } | undefined,
  entry: (event: AgentEvent, before: object | undefined) => [string, object] | undefined,
): { [id: string]: object } | undefined {
  let entries = baseline && { ...baseline };
  for (const event of events) {
    const id =
      'agentId' in event && event.type.startsWith('agent')
        ? event.agentId
        : 'stepId' in event
          ? event.stepId
          : undefined;
    const made = entry(event, entries?.[id ?? '']);
    if (made) entries = { ...entries, [made[0]]: made[1] };
  }
  return entries;
}

function runEntry(runId: string, end: EventOf<'run-end'>, parts: number): object {
  const place = end.outcome === 'paused' && { parts };
  return { runId, ...omit(end, 'type', 'at', 'resume', 'providerMetadata'), ...place };
}

function applyDelta(value: Json, event: EventOf<'data-delta' | 'state-delta'>): Json {
  const result = applyPatch(structuredClone(value), event.patch);
  return result.ok ? result.value : value;
}

function withMeta(part: MessagePart, meta: Meta | undefined): MessagePart {
  return meta ? { ...part, providerMetadata: mergeMeta(part.providerMetadata, meta)! } : part;
}

function mergeMeta(a: Meta | undefined, b: Meta | undefined): Meta | undefined {
  if (!a || !b) return a ?? b;
  const all = { ...a };
  for (const [key, value] of Object.entries(b)) all[key] = { ...all[key], ...value };
  return all;
}

function deepMerge(a: Json | undefined, b: Json): Json {
  if (typeof a !== 'object' || typeof b !== 'object' || !a || !b || Array.isArray(a) || Array.isArray(b)) return b;
  const all = { ...a };
  for (const [key, value] of Object.entries(b)) all[key] = deepMerge(all[key], value);
  return all;
}

function omit(value: object, ...keys: string[]): object {
  return Object.fromEntries(Object.entries(value).filter(([key]) => !keys.includes(key)));
}

function withoutUndefined(value: object): object {
  return Object.fromEntries(Object.entries(value).filter(([, item]) => item !== undefined));
}
