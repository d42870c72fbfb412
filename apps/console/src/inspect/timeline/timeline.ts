import type { AgentEvent, EventOf, Usage } from '@intertie/core';
import { EventAgents } from '../event-agents.ts';
import { groupBy } from '../group-by.ts';
import { EventClock } from './event-clock.ts';

export type SpanKind = 'run' | 'agent' | 'step' | 'tool' | 'wait';
export type Span = {
  id: string;
  kind: SpanKind;
  label: string;
  depth: number;
  agent?: string;
  start: number;
  /** Absent while it goes on. */
  end?: number;
  /** When it first said something: a word, a thought, the input of a call. */
  firstWord?: number;
  outcome?: 'complete' | 'paused' | 'aborted' | 'error' | 'denied';
  usage?: Usage;
  /** The events that open and close it. */
  event: number;
  lastEvent?: number;
};
/** A time in which nothing came at all. */
export type Gap = { start: number; end: number; before: number };
export type Timeline = { spans: Span[]; gaps: Gap[]; start: number; end: number; isLive: boolean };

/** Shorter silences are how a stream breathes. */
const quiet = 400;

/** Run, agents, steps and tools as spans of time, event by event; a span stands below the one that it is part of. */
export class TimelineFold {
  #clock: EventClock;
  #agents = new EventAgents();
  #spans = new Map<string, Span>();
  #parents = new Map<string, string | undefined>();
  #gaps: Gap[] = [];
  #count = 0;
  #start: number | undefined;
  #now = 0;
  #run: Span | undefined;

  constructor(frameTime?: (index: number) => number | undefined) {
    this.#clock = new EventClock(frameTime);
  }

  get count(): number {
    return this.#count;
  }

  feed(event: AgentEvent, arrived?: number): void {
    const index = this.#count++;
    const agent = this.#agents.feed(event);
    const at = this.#clock.timeOf(event, arrived);
    if (this.#start === undefined) this.#start = at;
    else if (at - this.#now > quiet) this.#gaps.push({ start: this.#now, end: at, before: index });
    this.#now = at;
    this.#feed(event, { index, at, agent });
  }

  /** As it stands; spans in the order of the tree. */
  take(): Timeline {
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
        return this.#runEnd(event, when);
      case 'agent-start': {
        const parent = event.parentAgentId === undefined ? 'run' : `agent ${event.parentAgentId}`;
        if (event.kind !== 'voice') {
          this.#open({ id: `agent ${event.agentId}`, kind: 'agent', label: event.name }, when, parent);
        }
        return;
      }
      case 'agent-end':
        return this.#close(`agent ${event.agentId}`, when, { outcome: event.outcome, ...sumOf(event.usage) });
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
          ...sumOf(event.usage),
        });
      case 'tool-input-start':
      case 'tool-call': {
        this.#firstWord(event.stepId, event.agentId, at);
        const id = `tool ${event.toolCallId}`;
        if (!this.#spans.has(id)) this.#open({ id, kind: 'tool', label: event.toolName }, when, this.#holder(event));
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
        return this.#firstWord(event.stepId, event.agentId, at);
      default:
    }
  }

  #runEnd(event: EventOf<'run-end'>, when: { index: number; at: number }): void {
    for (const span of this.#spans.values()) {
      if (span.end === undefined && span !== this.#run) this.#close(span.id, when, { outcome: event.outcome });
    }
    this.#close('run', when, { outcome: event.outcome, ...sumOf(event.usage) });
  }

  #holder({ stepId, agentId }: { stepId?: string; agentId?: string }): string {
    if (stepId !== undefined) return `step ${stepId}`;
    return agentId === undefined ? 'run' : `agent ${agentId}`;
  }

  #firstWord(stepId: string | undefined, agentId: string | undefined, at: number): void {
    const ids = [
      'run',
      ...(stepId === undefined ? [] : [`step ${stepId}`]),
      ...(agentId === undefined ? [] : [`agent ${agentId}`]),
    ];
    for (const id of ids) {
      const span = this.#spans.get(id);
      if (span) span.firstWord ??= at;
    }
  }

  #open(
    span: Pick<Span, 'id' | 'kind' | 'label'>,
    { at, index, agent }: { at: number; index: number; agent: string | undefined },
    parent: string | undefined,
  ): Span {
    const known = this.#spans.get(span.id);
    // An agent that ended paused may start again: its span goes on.
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

export function timelineOf(events: readonly AgentEvent[]): Timeline {
  const fold = new TimelineFold();
  for (const event of events) fold.feed(event);
  return fold.take();
}

/** What several models used, as one. */
function sumOf(usage: readonly Usage[] | undefined): { usage?: Usage } {
  if (!usage?.length) return {};
  const sum: Usage = {};
  for (const one of usage) {
    for (const key of ['inputTokens', 'outputTokens', 'totalTokens', 'reasoningTokens'] as const) {
      if (one[key] !== undefined) sum[key] = (sum[key] ?? 0) + one[key];
    }
  }
  return { usage: sum };
}
