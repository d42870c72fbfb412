import type { AgentEvent, Emit, EventOf, Json, JsonObject, Meta, Outcome } from '@intertie/core';
import { mergeMeta } from '@intertie/core/internal';
import { laterMetaOf, metaOf } from '../shared/event-meta.ts';
import { endedStepsKey, slotKey } from '../shared/intertie-metadata.ts';
import { defined, asFields, isFields, asNonEmptyText, asText, type Fields } from '../shared/read-fields.ts';

type Write = Emit<AgentEvent>;
type Step = { stepId: string } | { agentId: string } | { isPhase: true };

export function slotOf(event: Fields): JsonObject {
  return asFields(asFields(event.metadata)[slotKey]) as JsonObject;
}

/** Sub-agents as agents, and steps by owner and name, which is all that AG-UI knows them by. */
export class AGUIAgentReader {
  #runId: string;
  #agents = new Map<string, string>();
  #known = new Set<string>();
  #steps = new Map<string, Step>();
  /** Metadata of each open step, which belongs to its end. */
  #openSteps = new Map<string, Meta | undefined>();
  #count = 0;

  constructor(runId: string) {
    this.#runId = runId;
  }

  /** The agent that an event belongs to. One that was never announced is announced now. */
  agentOf(event: Fields, emit: Write): string | undefined {
    const kept = asNonEmptyText(slotOf(event).agentId);
    const name = asNonEmptyText(event.name);
    const wireId = asNonEmptyText(event.subagentRunId);
    if (kept !== undefined) return this.ensure(kept, name ?? kept, 'voice', emit);
    if (wireId !== undefined) return this.#agents.get(wireId) ?? this.ensure(wireId, wireId, 'agent', emit);
    return name === undefined ? undefined : this.ensure(`${this.#runId}:voice:${name}`, name, 'voice', emit);
  }

  /** The step that our own encoder says an event is of, if it is open. */
  stepOf(event: Fields): string | undefined {
    const stepId = asNonEmptyText(slotOf(event).stepId);
    return stepId !== undefined && this.#openSteps.has(stepId) ? stepId : undefined;
  }

  start(event: Fields, emit: Write): boolean {
    const wireId = asNonEmptyText(event.subagentRunId);
    const name = asText(event.name);
    if (wireId === undefined || name === undefined) return false;
    const kept = slotOf(event);
    const agentId = asNonEmptyText(kept.agentId) ?? wireId;
    this.#agents.set(wireId, agentId);
    this.#known.add(agentId);
    const parent = asNonEmptyText(event.parentSubagentRunId);
    const parentAgentId =
      asNonEmptyText(kept.parentAgentId) ?? (parent === undefined ? undefined : (this.#agents.get(parent) ?? parent));
    emit({
      type: 'agent-start',
      agentId,
      name,
      kind: 'agent',
      ...defined({ description: asText(event.description), toolCallId: asNonEmptyText(event.parentToolCallId) }),
      ...(parentAgentId !== undefined && this.#known.has(parentAgentId) && { parentAgentId }),
      ...defined({ providerMetadata: metaOf(event) }),
    });
    return true;
  }

  end(event: Fields, emit: Write): boolean {
    const agentId = this.#agents.get(String(event.subagentRunId));
    if (agentId === undefined) return false;
    const ended = slotOf(event).ended;
    if (isFields(ended)) emit({ type: 'agent-end', agentId, ...(ended as unknown as Outcome) });
    else {
      const result = event.result === undefined ? {} : { result: event.result as Json };
      emit({ type: 'agent-end', agentId, ...result, ...outcomeOf(event) });
    }
    return true;
  }

  stepStart(event: Fields, emit: Write): boolean {
    const name = asText(event.stepName);
    if (name === undefined) return false;
    const key = keyOf(event, name);
    const kept = slotOf(event);
    if (this.#steps.has(key)) return false;
    if (kept.phase === true) this.#steps.set(key, { isPhase: true });
    else if (isFields(kept.node) && asNonEmptyText(kept.node.agentId) !== undefined) {
      const node = kept.node as unknown as Omit<EventOf<'agent-start'>, 'type'>;
      this.#steps.set(key, { agentId: node.agentId });
      this.#known.add(node.agentId);
      emit({ ...node, type: 'agent-start' });
    } else {
      const stepId = asNonEmptyText(kept.stepId) ?? `${this.#runId}:step-${this.#count}`;
      this.#count += 1;
      this.#steps.set(key, { stepId });
      this.#openSteps.set(stepId, metaOf(event));
      const agentId = this.agentOf(event, emit);
      const isOurs = asNonEmptyText(kept.stepId) !== undefined;
      const said = isOurs ? asText(kept.name) : name;
      const warnings = Array.isArray(kept.warnings) ? kept.warnings : undefined;
      emit({ type: 'step-start', stepId, ...defined({ agentId, name: said, warnings }) });
    }
    return true;
  }

  stepEnd(event: Fields, emit: Write): boolean {
    const key = keyOf(event, String(event.stepName));
    const step = this.#steps.get(key);
    if (step === undefined) return false;
    this.#steps.delete(key);
    const kept = slotOf(event);
    if ('agentId' in step) {
      const ended = isFields(kept.ended) ? (kept.ended as unknown as Outcome) : { outcome: 'complete' as const };
      emit({ type: 'agent-end', agentId: step.agentId, ...ended });
      return true;
    }
    // A phase that ends is not the end of its step, unless our own encoder names the step.
    const stepId = asNonEmptyText(kept.stepId) ?? ('stepId' in step ? step.stepId : undefined);
    if (kept.phase === true || stepId === undefined || !this.#openSteps.has(stepId)) return true;
    const meta = this.#openSteps.get(stepId);
    this.#openSteps.delete(stepId);
    const providerMetadata = mergeMeta(meta, laterMetaOf(event, meta));
    emit({ type: 'step-end', ...kept, ...defined({ providerMetadata }), stepId });
    return true;
  }

  /** Ends the steps whose ends our own encoder has put into the metadata of a later event. Returns the event without them. */
  endSteps(event: Fields, emit: Write): Fields {
    const { [endedStepsKey]: ended, ...kept } = slotOf(event);
    if (!Array.isArray(ended)) return event;
    for (const end of ended.map(asFields)) {
      const stepId = asNonEmptyText(end.stepId);
      if (stepId !== undefined && this.#openSteps.delete(stepId)) emit({ ...end, type: 'step-end', stepId });
    }
    return { ...event, metadata: { ...asFields(event.metadata), [slotKey]: kept } };
  }

  /** An agent that was never announced is announced when it is first heard of. */
  ensure(agentId: string, name: string, kind: 'agent' | 'voice', emit: Write): string {
    if (this.#known.has(agentId)) return agentId;
    this.#known.add(agentId);
    emit({ type: 'agent-start', agentId, name, kind });
    return agentId;
  }
}

function keyOf(event: Fields, name: string): string {
  return JSON.stringify([event.subagentRunId ?? null, name]);
}

function outcomeOf(event: Fields): Outcome {
  if (event.type === 'SUBAGENT_ERROR') {
    const code = asText(event.code);
    return { outcome: 'error', error: { message: asText(event.message) ?? 'The agent failed.', ...defined({ code }) } };
  }
  return asFields(event.outcome).type === 'suspended' ? { outcome: 'paused', waitingFor: [] } : { outcome: 'complete' };
}
