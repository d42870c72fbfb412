import type { AgentEvent, Emit, EventOf, Json, JsonObject, Meta, Outcome } from '@intertie/core';
import { mergeMeta } from '@intertie/core/internal';
import { readLaterMeta, readMeta } from '../shared/event-meta.ts';
import { endedStepsKey, metadataKey } from '../shared/intertie-metadata.ts';
import { defined, asFields, isFields, asNonEmptyText, asText, type Fields } from '../shared/read-fields.ts';

type Write = Emit<AgentEvent>;
type Step = { stepId: string } | { agentId: string } | { isPhase: true };

/** Returns the fields that our encoder put into the metadata of an event. */
export function readMetadata(event: Fields): JsonObject {
  return asFields(asFields(event.metadata)[metadataKey]) as JsonObject;
}

/** Decodes sub-agents as agents, and steps, which AG-UI identifies by owner and name only. */
export class AgentDecoder {
  #runId: string;
  #agents = new Map<string, string>();
  #known = new Set<string>();
  #steps = new Map<string, Step>();
  /** Metadata of each open step, which is emitted with its end. */
  #openSteps = new Map<string, Meta | undefined>();
  #count = 0;

  constructor(runId: string) {
    this.#runId = runId;
  }

  /** Returns the agent that an event belongs to. Announces an agent that was not announced. */
  resolveAgent(event: Fields, emit: Write): string | undefined {
    const extra = asNonEmptyText(readMetadata(event).agentId);
    const name = asNonEmptyText(event.name);
    const wireId = asNonEmptyText(event.subagentRunId);
    if (extra !== undefined) return this.ensureAgent(extra, name ?? extra, 'voice', emit);
    if (wireId !== undefined) return this.#agents.get(wireId) ?? this.ensureAgent(wireId, wireId, 'agent', emit);
    return name === undefined ? undefined : this.ensureAgent(`${this.#runId}:voice:${name}`, name, 'voice', emit);
  }

  /** Returns the step that our encoder attributed an event to, if it is open. */
  findStep(event: Fields): string | undefined {
    const stepId = asNonEmptyText(readMetadata(event).stepId);
    return stepId !== undefined && this.#openSteps.has(stepId) ? stepId : undefined;
  }

  start(event: Fields, emit: Write): boolean {
    const wireId = asNonEmptyText(event.subagentRunId);
    const name = asText(event.name);
    if (wireId === undefined || name === undefined) return false;
    const extra = readMetadata(event);
    const agentId = asNonEmptyText(extra.agentId) ?? wireId;
    this.#agents.set(wireId, agentId);
    this.#known.add(agentId);
    const parent = asNonEmptyText(event.parentSubagentRunId);
    const parentAgentId =
      asNonEmptyText(extra.parentAgentId) ?? (parent === undefined ? undefined : (this.#agents.get(parent) ?? parent));
    emit({
      type: 'agent-start',
      agentId,
      name,
      kind: 'agent',
      ...defined({ description: asText(event.description), toolCallId: asNonEmptyText(event.parentToolCallId) }),
      ...(parentAgentId !== undefined && this.#known.has(parentAgentId) && { parentAgentId }),
      ...defined({ providerMetadata: readMeta(event) }),
    });
    return true;
  }

  end(event: Fields, emit: Write): boolean {
    const agentId = this.#agents.get(String(event.subagentRunId));
    if (agentId === undefined) return false;
    const ended = readMetadata(event).ended;
    if (isFields(ended)) emit({ type: 'agent-end', agentId, ...(ended as unknown as Outcome) });
    else {
      const result = event.result === undefined ? {} : { result: event.result as Json };
      emit({ type: 'agent-end', agentId, ...result, ...readOutcome(event) });
    }
    return true;
  }

  stepStart(event: Fields, emit: Write): boolean {
    const name = asText(event.stepName);
    if (name === undefined) return false;
    const key = toStepKey(event, name);
    const extra = readMetadata(event);
    if (this.#steps.has(key)) return false;
    if (extra.phase === true) this.#steps.set(key, { isPhase: true });
    else if (isFields(extra.node) && asNonEmptyText(extra.node.agentId) !== undefined) {
      const node = extra.node as unknown as Omit<EventOf<'agent-start'>, 'type'>;
      this.#steps.set(key, { agentId: node.agentId });
      this.#known.add(node.agentId);
      emit({ ...node, type: 'agent-start' });
    } else {
      const stepId = asNonEmptyText(extra.stepId) ?? `${this.#runId}:step-${this.#count}`;
      this.#count += 1;
      this.#steps.set(key, { stepId });
      this.#openSteps.set(stepId, readMeta(event));
      const agentId = this.resolveAgent(event, emit);
      const isOurs = asNonEmptyText(extra.stepId) !== undefined;
      const stepName = isOurs ? asText(extra.name) : name;
      const warnings = Array.isArray(extra.warnings) ? extra.warnings : undefined;
      emit({ type: 'step-start', stepId, ...defined({ agentId, name: stepName, warnings }) });
    }
    return true;
  }

  stepEnd(event: Fields, emit: Write): boolean {
    const key = toStepKey(event, String(event.stepName));
    const step = this.#steps.get(key);
    if (step === undefined) return false;
    this.#steps.delete(key);
    const extra = readMetadata(event);
    if ('agentId' in step) {
      const ended = isFields(extra.ended) ? (extra.ended as unknown as Outcome) : { outcome: 'complete' as const };
      emit({ type: 'agent-end', agentId: step.agentId, ...ended });
      return true;
    }
    // The end of a phase is not the end of its step, unless our encoder names the step.
    const stepId = asNonEmptyText(extra.stepId) ?? ('stepId' in step ? step.stepId : undefined);
    if (extra.phase === true || stepId === undefined || !this.#openSteps.has(stepId)) return true;
    const meta = this.#openSteps.get(stepId);
    this.#openSteps.delete(stepId);
    const providerMetadata = mergeMeta(meta, readLaterMeta(event, meta));
    emit({ type: 'step-end', ...extra, ...defined({ providerMetadata }), stepId });
    return true;
  }

  /** Ends the steps whose ends our encoder put into the metadata of a later event. Returns the event without them. */
  endSteps(event: Fields, emit: Write): Fields {
    const { [endedStepsKey]: ended, ...extra } = readMetadata(event);
    if (!Array.isArray(ended)) return event;
    for (const end of ended.map(asFields)) {
      const stepId = asNonEmptyText(end.stepId);
      if (stepId !== undefined && this.#openSteps.delete(stepId)) emit({ ...end, type: 'step-end', stepId });
    }
    return { ...event, metadata: { ...asFields(event.metadata), [metadataKey]: extra } };
  }

  /** Emits `agent-start` for an agent that was not announced. */
  ensureAgent(agentId: string, name: string, kind: 'agent' | 'voice', emit: Write): string {
    if (this.#known.has(agentId)) return agentId;
    this.#known.add(agentId);
    emit({ type: 'agent-start', agentId, name, kind });
    return agentId;
  }
}

function toStepKey(event: Fields, name: string): string {
  return JSON.stringify([event.subagentRunId ?? null, name]);
}

function readOutcome(event: Fields): Outcome {
  if (event.type === 'SUBAGENT_ERROR') {
    const code = asText(event.code);
    return { outcome: 'error', error: { message: asText(event.message) ?? 'The agent failed.', ...defined({ code }) } };
  }
  return asFields(event.outcome).type === 'suspended' ? { outcome: 'paused', waitingFor: [] } : { outcome: 'complete' };
}
