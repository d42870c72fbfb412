import type { AgentEvent, EventOf } from '../event/event.ts';
import { isFields, omit } from '../json/fields.ts';
import { FoldedParts } from './folded-parts.ts';
import { applyPatch, type Op } from '../json/json-patch.ts';
import type { Json, JsonObject, Meta } from '../json/json.ts';
import type { OnLoss } from '../json/loss.ts';
import { mergeMeta } from '../event/merge-meta.ts';
import { setOwn } from '../json/set-own.ts';
import type {
  AgentEntry,
  CanonicalMessage,
  MessageContent,
  MessagePart,
  RunEntry,
  StepEntry,
} from '../event/message.ts';
import { Snapshot, type Envelope, type MessageSnapshot, type ContentFields } from './message-snapshot.ts';
import { replaceParts, mergeRunEntries } from './replace-content.ts';
import { withAnswer, completeCall, isSettled, createToolPart, settleCall } from '../codec/tool-part.ts';
import { VersionedDirectory } from './versioned-directory.ts';

/**
 * Folds events into one message. O(1) per delta, independent of the number of parts and of snapshots. Expects events in order,
 * as `seal` emits them; an event that does not fit is reported as a loss and ignored.
 */
export class MessageFold {
  #envelope: Envelope;
  #fields: ContentFields;
  #parts: FoldedParts;
  #agents: VersionedDirectory<AgentEntry>;
  #steps: VersionedDirectory<StepEntry>;
  /** Ids of transient data. It is not part of the message, so its patches are ignored too. */
  #transient: Set<string> = new Set();
  #version = 0;
  #partId: string | undefined;
  #lastDelta = '';
  #length = 0;
  /** Containers of state and data that no snapshot shares, so they can be changed in place. */
  #owned: WeakSet<object> = new WeakSet();
  #onLoss: OnLoss;

  constructor(message: CanonicalMessage, onLoss: OnLoss = () => undefined) {
    const { content, ...envelope } = message;
    const { parts, agents, steps, ...rest } = content;
    this.#envelope = envelope;
    this.#fields = rest;
    this.#parts = new FoldedParts(parts);
    this.#agents = new VersionedDirectory(agents);
    this.#steps = new VersionedDirectory(steps);
    this.#onLoss = onLoss;
  }

  get id(): string {
    return this.#envelope.id;
  }

  feed(event: AgentEvent): void {
    this.#version++;
    switch (event.type) {
      case 'text-delta':
      case 'reasoning-delta':
        return this.#delta(
          event.id,
          event.delta,
          event.providerMetadata,
          event.type === 'text-delta' ? 'text' : 'reasoning',
        );
      case 'tool-input-delta':
        return this.#delta(event.toolCallId, event.delta, event.providerMetadata, 'tool-invocation');
      case 'run-start':
        return this.#runStart(event);
      case 'run-end':
        return this.#runEnd(event);
      case 'message-snapshot':
        return this.#replaceContent(event.content);
      case 'metadata':
        return event.id === undefined
          ? this.#setFields({ metadata: mergeOwned(this.#fields.metadata, event.metadata, this.#owned) })
          : this.#partMetadata(event.id, event.providerMetadata);
      case 'agent-start':
        return this.#agentStart(event);
      case 'agent-end':
        return this.#agentEnd(event);
      case 'step-start':
        return this.#stepStart(event);
      case 'step-end':
        return this.#stepEnd(event);
      case 'text-start': {
        const fields = omit(event, 'type', 'at', 'origin');
        return this.#add(event.id, { type: 'text', text: '', ...fields });
      }
      case 'reasoning-start': {
        const fields = omit(event, 'type', 'at', 'origin');
        return this.#add(event.id, { type: 'reasoning', reasoning: '', ...fields });
      }
      case 'text-end':
        if (event.citations) this.#setCitations(event.id, event.citations);
        return this.#partMetadata(event.id, event.providerMetadata);
      case 'reasoning-end':
        return this.#partMetadata(event.id, event.providerMetadata);
      case 'tool-input-start':
        return this.#add(event.toolCallId, createToolPart(event));
      case 'tool-input-end':
        return this.#partMetadata(event.toolCallId, event.providerMetadata);
      case 'tool-call':
        return this.#toolCall(event);
      case 'tool-result':
        return this.#toolResult(event);
      case 'question':
        return this.#question(event);
      case 'answer':
        return this.#answer(event);
      case 'interjection':
      case 'file':
      case 'source': {
        const part = omit(event, 'at', 'origin');
        return this.#add(event.id, part);
      }
      case 'data':
        return this.#data(event);
      case 'data-delta':
        return this.#dataDelta(event);
      case 'state-snapshot':
        this.#envelope = { ...this.#envelope, state: event.state };
        return;
      case 'state-delta':
        return this.#stateDelta(event);
      case 'notice':
      case 'checkpoint':
      case 'raw':
        // Not part of the message; the log and the tape record them.
        return;
      default:
        // Event of a newer version; the log records it too.
        return;
    }
  }

  snapshot(): MessageSnapshot {
    this.#owned = new WeakSet();
    return new Snapshot(this.#version, this.#partId, this.#lastDelta, this.#length, {
      envelope: this.#envelope,
      fields: this.#fields,
      parts: this.#parts.snapshot(),
      agents: this.#agents.snapshot(),
      steps: this.#steps.snapshot(),
    });
  }

  #delta(id: string, delta: string, metadata: Meta | undefined, type: 'text' | 'reasoning' | 'tool-invocation'): void {
    const part = this.#parts.getWritable(id);
    if (part?.type !== type) return this.#reportInvalid(`${type} delta`, id);
    let text: string;
    if (part.type === 'text') text = part.text += delta;
    else if (part.type === 'reasoning') text = part.reasoning += delta;
    else if (part.state === 'partial-call') text = part.argsText = (part.argsText ?? '') + delta;
    else return this.#reportInvalid('tool-input delta', id);
    if (metadata) part.providerMetadata = mergeMeta(part.providerMetadata, metadata)!;
    this.#partId = id;
    this.#lastDelta = delta;
    this.#length = text.length;
  }

  #runStart(event: EventOf<'run-start'>): void {
    this.#envelope = { ...this.#envelope, runId: event.runId, status: 'streaming' };
  }

  #runEnd(event: EventOf<'run-end'>): void {
    const { resume, providerMetadata, ...ended } = omit(event, 'type', 'at', 'origin');
    const parts = event.outcome === 'paused' && { parts: this.#parts.length };
    const run: RunEntry = { runId: this.#envelope.runId ?? '', ...ended, ...parts };
    const runs = (this.#fields.runs ?? []).filter((entry) => entry.runId !== run.runId);
    this.#setFields({ runs: [...runs, run] });
    const merged = mergeMeta(this.#fields.providerMetadata, providerMetadata);
    if (merged) this.#setFields({ providerMetadata: merged });
    // A resume token of an earlier run is no longer valid.
    const envelope = omit(this.#envelope, 'sourceState');
    this.#envelope = { ...envelope, status: event.outcome, ...(resume !== undefined && { sourceState: resume }) };
  }

  #replaceContent(content: MessageContent): void {
    const { parts, agents, steps, runs, ...rest } = content;
    const allRuns = mergeRunEntries(this.#fields.runs, runs);
    this.#fields = { ...rest, ...(allRuns.length > 0 && { runs: allRuns }) };
    this.#parts.reset(replaceParts(this.#parts.items(), parts));
    this.#agents = new VersionedDirectory(agents);
    this.#steps = new VersionedDirectory(steps);
  }

  #agentStart(event: EventOf<'agent-start'>): void {
    const { agentId, ...entry } = omit(event, 'type', 'at', 'origin');
    this.#agents.set(agentId, entry);
  }

  #agentEnd(event: EventOf<'agent-end'>): void {
    const entry = this.#agents.get(event.agentId);
    if (!entry) return this.#reportInvalid('agent-end', event.agentId);
    const { result, usage, outcome } = event;
    this.#agents.set(event.agentId, {
      ...entry,
      outcome,
      ...(event.outcome === 'error' && { error: event.error }),
      ...(result !== undefined && { result }),
      ...(usage && { usage }),
    });
  }

  #stepStart({ stepId, agentId, name }: EventOf<'step-start'>): void {
    this.#steps.set(stepId, { ...(agentId !== undefined && { agentId }), ...(name !== undefined && { name }) });
  }

  #stepEnd(event: EventOf<'step-end'>): void {
    const entry = this.#steps.get(event.stepId);
    if (!entry) return this.#reportInvalid('step-end', event.stepId);
    if (event.discarded) return this.#discardStep(event.stepId);
    const { stepId, ...fields } = omit(event, 'type', 'at', 'origin', 'warnings', 'discarded');
    this.#steps.set(stepId, { ...entry, ...fields });
  }

  /** Removes a step that was retried, with its parts and the questions about its calls. */
  #discardStep(stepId: string): void {
    const kept: MessagePart[] = [];
    const discardedCalls = new Set<string>();
    for (const part of this.#parts.items()) {
      if (part.stepId === stepId) {
        if (part.type === 'tool-invocation') discardedCalls.add(part.toolCallId);
      } else if (part.type !== 'question' || !discardedCalls.has(part.toolCallId ?? '')) kept.push(part);
    }
    this.#parts.reset(kept);
    this.#steps.delete(stepId);
  }

  #toolCall(event: EventOf<'tool-call'>): void {
    const part = this.#parts.getWritable(event.toolCallId);
    if (part === undefined) return this.#add(event.toolCallId, createToolPart(event));
    if (part.type !== 'tool-invocation' || part.state !== 'partial-call')
      return this.#reportInvalid('tool-call', event.toolCallId);
    completeCall(part, event);
  }

  #toolResult(event: EventOf<'tool-result'>): void {
    const part = this.#parts.getWritable(event.toolCallId);
    if (part?.type !== 'tool-invocation' || isSettled(part.state) || part.state === 'partial-call') {
      return this.#reportInvalid('tool-result', event.toolCallId);
    }
    settleCall(part, event);
  }

  /** Stores a question as the approval of its call. Without a call, or if that has one already, the question is its own part. */
  #question(event: EventOf<'question'>): void {
    const { agentId, ...question } = omit(event, 'type', 'at', 'origin');
    const call = question.toolCallId === undefined ? undefined : this.#parts.getWritable(question.toolCallId);
    if (this.#parts.hasQuestion(question.questionId)) return this.#reportInvalid('question', question.questionId);
    if (call?.type === 'tool-invocation' && call.approval === undefined) {
      call.approval = question;
      return this.#parts.linkQuestion(call.toolCallId, question.questionId);
    }
    this.#parts.addQuestion({ type: 'question', ...(agentId !== undefined && { agentId }), ...question });
  }

  #answer(event: EventOf<'answer'>): void {
    const answer = omit(event, 'type', 'at', 'origin');
    const part = this.#parts.getWritableByQuestion(event.questionId);
    if (part?.type === 'tool-invocation' && part.approval?.questionId === event.questionId) {
      part.approval = withAnswer(part.approval, answer);
    } else if (part?.type === 'question') Object.assign(part, withAnswer(part, answer));
    else this.#reportInvalid('answer', event.questionId);
  }

  #data(event: EventOf<'data'>): void {
    if (event.transient) {
      this.#transient.add(event.id);
      return;
    }
    const part = omit(event, 'at', 'origin', 'transient');
    const before = this.#parts.getWritable(event.id);
    if (before === undefined) return this.#add(event.id, part);
    if (before.type !== 'data') return this.#reportInvalid('data', event.id);
    Object.assign(before, { name: part.name, data: part.data });
    const metadata = mergeMeta(before.providerMetadata, part.providerMetadata);
    if (metadata) before.providerMetadata = metadata;
  }

  #dataDelta(event: EventOf<'data-delta'>): void {
    const part = this.#parts.getWritable(event.id);
    if (part === undefined && this.#transient.has(event.id)) return;
    if (part?.type !== 'data') return this.#reportInvalid('data-delta', event.id);
    const data = this.#applyPatch(part.data, event.patch, event.id);
    if (data !== undefined) part.data = data;
  }

  #stateDelta(event: EventOf<'state-delta'>): void {
    const state = this.#applyPatch(this.#envelope.state ?? {}, event.patch);
    if (state !== undefined) this.#envelope = { ...this.#envelope, state };
  }

  #applyPatch(value: Json, patch: Op[], id?: string): Json | undefined {
    const patched = applyPatch(value, patch, this.#owned);
    if (patched.ok) return patched.value;
    const what = id === undefined ? 'state-delta' : 'data-delta';
    const why = `Operation ${patched.index} cannot be applied: ${patched.message}. Nothing was changed.`;
    this.#onLoss({ kind: 'repaired', what, why, ...(id !== undefined && { id }) });
    return undefined;
  }

  #partMetadata(id: string, metadata: Meta | undefined): void {
    if (metadata === undefined) return;
    const part = this.#parts.getWritable(id);
    if (part === undefined) return this.#reportInvalid('metadata', id);
    part.providerMetadata = mergeMeta(part.providerMetadata, metadata)!;
  }

  #setCitations(id: string, citations: NonNullable<EventOf<'text-end'>['citations']>): void {
    const part = this.#parts.getWritable(id);
    if (part?.type === 'text') part.citations = citations;
    else this.#reportInvalid('text', id);
  }

  #add(id: string, part: MessagePart): void {
    if (!this.#parts.add(id, part)) this.#reportInvalid(part.type, id);
  }

  #setFields(change: Partial<ContentFields>): void {
    this.#fields = { ...this.#fields, ...change };
  }

  #reportInvalid(what: string, id: string): void {
    this.#onLoss({ kind: 'repaired', what, why: 'No part, agent or step matches it; it was ignored.', id });
  }
}

/**
 * Merges like `mergeMetadata`, but changes objects in `owned` in place. They were created here and are not shared, so adding n
 * keys one by one takes O(n) instead of O(n²).
 */
function mergeOwned(a: JsonObject | undefined, b: JsonObject, owned: WeakSet<object>): JsonObject {
  const target = a !== undefined && owned.has(a) ? a : { ...a };
  owned.add(target);
  for (const [key, later] of Object.entries(b)) {
    const before = Object.hasOwn(target, key) ? target[key] : undefined;
    setOwn(target, key, isFields(before) && isFields(later) ? mergeOwned(before, later, owned) : later);
  }
  return target;
}
