import type { AgentEvent, EventOf, Usage } from '@intertie/core';
import { isFields } from '@intertie/core/internal';
import { EventAgents } from '../event-agents.ts';
import { groupBy } from '../group-by.ts';
import { EventClock } from './event-clock.ts';

export type SpanKind = 'run' | 'agent' | 'step' | 'tool' | 'wait' | 'recovery';
export type Span = {
  id: string;
  kind: SpanKind;
  label: string;
  depth: number;
  agent?: string;
  start: number;
  /** Absent while the span is open. */
  end?: number;
  /** Time of the first text, reasoning or tool input. */
  firstOutput?: number;
  outcome?: 'complete' | 'paused' | 'aborted' | 'error' | 'denied';
  usage?: Usage;
  /** Indices of the events that open and close the span. */
  event: number;
  lastEvent?: number;
};
/** Period without any event. */
export type Gap = { start: number; end: number; before: number };
export type Timeline = { spans: Span[]; gaps: Gap[]; start: number; end: number; isLive: boolean };

/** Shorter pauses are normal in a stream. */
const minGapMs = 400;

/** Folds events to spans of the run, its agents, steps and tools, nested by ownership. */
export class TimelineFold {
  #clock: EventClock;
  #agents = new EventAgents();
  #spans = new Map<string, Span>();
  #parents = new Map<string, string | undefined>();
  #gaps: Gap[] = [];
  #count = 0;
  #start: number | undefined;
  #now = 0;
  /** Whether all events since `#now` have a known time. Deltas whose frames are not recorded have none. */
  #isSilent = true;
  #run: Span | undefined;
  #attempts = 1;

  constructor(frameTime?: (index: number) => number | undefined) {
    this.#clock = new EventClock(frameTime);
  }

  get count(): number {
    return this.#count;
  }

  feed(event: AgentEvent, arrived?: number): void {
    const index = this.#count++;
    const agent = this.#agents.feed(event);
    const at = this.#clock.getTime(event, arrived);
    const before = this.#now;
    if (this.#start === undefined) this.#start = at;
    else if (this.#isSilent && at - this.#now > minGapMs) this.#gaps.push({ start: this.#now, end: at, before: index });
    this.#isSilent = this.#clock.isKnown;
    this.#now = at;
    if (event.type === 'notice' && event.code === 'recovered') this.#addRecovery(event, { index, at }, before);
    else this.#feed(event, { index, at, agent });
  }

  /** The run had no process from its last event until another process continued it. */
  #addRecovery({ data }: EventOf<'notice'>, { index, at }: { index: number; at: number }, lastAt: number): void {
    const attempts = isFields(data) && typeof data.attempts === 'number' ? data.attempts : this.#attempts;
    // A hand-over at shutdown does not count as an attempt.
    const label = attempts > this.#attempts ? `attempt ${attempts}` : 'handed over';
    this.#attempts = attempts;
    const id = `recovery ${index}`;
    this.#open({ id, kind: 'recovery', label }, { at: lastAt, index, agent: undefined }, 'run');
    this.#close(id, { at, index }, { outcome: 'complete' });
  }

  /** Returns the current state, with spans in depth-first order. */
  snapshot(): Timeline {
    const children = groupBy(this.#spans.values(), ({ id }) => this.#parents.get(id));
    const spans: Span[] = [];
    const visit = (parent: string | undefined, depth: number): void => {
      for (const span of children.get(parent) ?? []) {
        spans.push({ ...span, depth });
        visit(span.id, depth + 1);
      }
    };
    visit(undefined, 0);
    const isLive = this.#run !== undefined && this.#run.end === undefined;
    return { spans, gaps: [...this.#gaps], start: this.#start ?? 0, end: this.#now, isLive };
  }

  #feed(event: AgentEvent, when: { index: number; at: number; agent: string | undefined }): void {
    const { at, index, agent } = when;
    switch (event.type) {
      case 'run-start':
        this.#run = this.#open({ id: 'run', kind: 'run', label: 'run' }, when, undefined);
        return;
      case 'run-end':
        return this.#endRun(event, when);
      case 'agent-start': {
        const parent = event.parentAgentId === undefined ? 'run' : `agent ${event.parentAgentId}`;
        if (event.kind !== 'voice') {
          this.#open({ id: `agent ${event.agentId}`, kind: 'agent', label: event.name }, when, parent);
        }
        return;
      }
      case 'agent-end':
        return this.#close(`agent ${event.agentId}`, when, { outcome: event.outcome, ...sumUsage(event.usage) });
      case 'step-start': {
        const parent = event.agentId === undefined ? 'run' : `agent ${event.agentId}`;
        const steps = [...this.#parents].filter(([id, of]) => of === parent && id.startsWith('step ')).length;
        this.#open(
          { id: `step ${event.stepId}`, kind: 'step', label: event.name ?? `step ${steps + 1}` },
          when,
          parent,
        );
        return;
      }
      case 'step-end':
        return this.#close(`step ${event.stepId}`, when, {
          outcome: event.discarded ? 'aborted' : event.finishReason === 'error' ? 'error' : 'complete',
          ...sumUsage(event.usage),
        });
      case 'tool-input-start':
      case 'tool-call': {
        this.#noteOutput(event.stepId, event.agentId, at);
        const id = `tool ${event.toolCallId}`;
        if (!this.#spans.has(id)) this.#open({ id, kind: 'tool', label: event.toolName }, when, getOwner(event));
        return;
      }
      case 'tool-result': {
        if (event.status === 'ok' && event.preliminary) return;
        const outcome = event.status === 'ok' ? 'complete' : event.status;
        return this.#close(`tool ${event.toolCallId}`, when, { outcome });
      }
      case 'question': {
        const tool = event.toolCallId === undefined ? undefined : `tool ${event.toolCallId}`;
        const owner = tool ?? (event.agentId === undefined ? 'run' : `agent ${event.agentId}`);
        const label = event.kind === 'approval' ? 'approval' : 'question';
        this.#open({ id: `wait ${event.questionId}`, kind: 'wait', label }, { at, index, agent }, owner);
        return;
      }
      case 'answer':
        return this.#close(`wait ${event.questionId}`, when, {
          outcome: event.approved === false ? 'denied' : 'complete',
        });
      case 'text-start':
      case 'reasoning-start':
        return this.#noteOutput(event.stepId, event.agentId, at);
      default:
    }
  }

  #endRun(event: EventOf<'run-end'>, when: { index: number; at: number }): void {
    for (const span of this.#spans.values()) {
      if (span.end === undefined && span !== this.#run) this.#close(span.id, when, { outcome: event.outcome });
    }
    this.#close('run', when, { outcome: event.outcome, ...sumUsage(event.usage) });
  }

  #noteOutput(stepId: string | undefined, agentId: string | undefined, at: number): void {
    const ids = [
      'run',
      ...(stepId === undefined ? [] : [`step ${stepId}`]),
      ...(agentId === undefined ? [] : [`agent ${agentId}`]),
    ];
    for (const id of ids) {
      const span = this.#spans.get(id);
      if (span) span.firstOutput ??= at;
    }
  }

  #open(
    span: Pick<Span, 'id' | 'kind' | 'label'>,
    { at, index, agent }: { at: number; index: number; agent: string | undefined },
    parent: string | undefined,
  ): Span {
    const known = this.#spans.get(span.id);
    // An agent that ended paused can start again and continues its span.
    if (known) {
      delete known.end;
      delete known.outcome;
      return known;
    }
    const opened: Span = { ...span, depth: 0, start: at, event: index, ...(agent !== undefined && { agent }) };
    this.#spans.set(span.id, opened);
    this.#parents.set(span.id, parent === undefined || this.#spans.has(parent) ? parent : 'run');
    return opened;
  }

  #close(id: string, { at, index }: { at: number; index: number }, ended: Pick<Span, 'outcome' | 'usage'>): void {
    const span = this.#spans.get(id);
    if (span && span.end === undefined) Object.assign(span, { end: at, lastEvent: index, ...ended });
  }
}

export function buildTimeline(events: readonly AgentEvent[]): Timeline {
  const fold = new TimelineFold();
  for (const event of events) fold.feed(event);
  return fold.snapshot();
}

/** Returns the id of the span that a tool call belongs to. */
function getOwner({ stepId, agentId }: { stepId?: string; agentId?: string }): string {
  if (stepId !== undefined) return `step ${stepId}`;
  return agentId === undefined ? 'run' : `agent ${agentId}`;
}

/** Sums the usage of several models. */
function sumUsage(usage: readonly Usage[] | undefined): { usage?: Usage } {
  if (!usage?.length) return {};
  const sum: Usage = {};
  for (const one of usage) {
    for (const key of ['inputTokens', 'outputTokens', 'totalTokens', 'reasoningTokens'] as const) {
      if (one[key] !== undefined) sum[key] = (sum[key] ?? 0) + one[key];
    }
  }
  return { usage: sum };
}
