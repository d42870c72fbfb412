import type { AgentEvent, EventOf, Meta, RunInput } from '@intertie/core';

/** Events of a generated run so far, and the objects that the next event may refer to. */
export class RunBuilder {
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

  /** Attribution to an open step and its agent, to an agent, or to neither. */
  attribution(pick: number): {
    agentId?: string;
    stepId?: string;
    internal?: true;
    to?: string[];
    providerMetadata?: Meta;
  } {
    const more = {
      ...(pick % 5 === 0 && { internal: true as const, to: ['someone'] }),
      ...(pick % 3 === 0 && { providerMetadata: { maker: { at: 'start', pick } } }),
    };
    const step = this.steps[pick % (this.steps.length + 1)];
    if (step) return { ...step, ...more };
    const agentId = this.agents[pick % (this.agents.length + 1)];
    return agentId === undefined ? more : { agentId, ...more };
  }

  /** Removes and returns one item of a list. */
  take<T>(list: T[], pick: number): T | undefined {
    return list.length === 0 ? undefined : list.splice(pick % list.length, 1)[0];
  }
}
