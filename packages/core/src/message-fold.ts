import type { AgentEvent, EventOf } from './event.ts';
import { applyPatch, type Op } from './json-patch.ts';
import type { Json, Meta } from './json.ts';
import type { OnLoss } from './loss.ts';
import { mergeMeta, mergeMetadata } from './merge-meta.ts';
import type {
  AgentEntry,
  CanonicalMessage,
  MessageContent,
  MessagePart,
  RunEntry,
  StepEntry,
  ToolPart,
} from './message.ts';
import { answered, completeCall, isSettled, newToolPart, settleCall, takesBack } from './tool-part.ts';
import { itemsOf, VersionedList } from './versioned-list.ts';

/** A message at one moment. Taking one is O(1); the message itself is built when it is asked for, and once. */
export interface MessageSnapshot {
  readonly messageId: string;
  /** How many events the message is made of. */
  readonly version: number;
  /** The part that the last delta belongs to. */
  readonly partId: string | undefined;
  readonly lastDelta: string;
  /** The length of that part's text so far: reading a growing string's length is cheap, reading its end is not. */
  readonly length: number;
  readonly message: CanonicalMessage;
}

type Envelope = Omit<CanonicalMessage, 'content'>;
type Rest = Omit<MessageContent, 'parts'>;
type Directory<Entry> = { [id: string]: Entry };

/**
 * The fold of one message: events in, the message so far out. O(1) per delta, however many parts the message has and
 * however often a snapshot is taken. Events are taken to be in order (`seal` sees to it); what does not fit is reported
 * and changes nothing.
 */
export class MessageFold {
  #envelope: Envelope;
  #rest: Rest;
  #parts: VersionedList<MessagePart>;
  /** Where a part is, by its id, tool call id or question id. */
  #places: Map<string, number> = new Map();
  /** The version at which each part was made or copied: younger than the last snapshot means it is ours to change. */
  #madeAt: number[] = [];
  /** Data that is shown and not kept; its patches are not either. */
  #transient: Set<string> = new Set();
  #version = 0;
  #lastTaken = -1;
  #partId: string | undefined;
  #lastDelta = '';
  #length = 0;
  /** Containers of state and data that only this fold knows. */
  #owned: WeakSet<object> = new WeakSet();
  #onLoss: OnLoss;

  constructor(message: CanonicalMessage, onLoss: OnLoss = () => undefined) {
    const { content, ...envelope } = message;
    const { parts, ...rest } = content;
    this.#envelope = envelope;
    this.#rest = rest;
    this.#parts = new VersionedList([...parts]);
    this.#onLoss = onLoss;
    this.#index();
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
        return this.#restate(event.content);
      case 'metadata':
        return event.id === undefined
          ? this.#set({ metadata: mergeMetadata(this.#rest.metadata, event.metadata) })
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
        const { type: _, at: __, origin: ___, ...said } = event;
        return this.#add(event.id, { type: 'text', text: '', ...said });
      }
      case 'reasoning-start': {
        const { type: _, at: __, origin: ___, ...said } = event;
        return this.#add(event.id, { type: 'reasoning', reasoning: '', ...said });
      }
      case 'text-end':
        if (event.citations) this.#edit(event.id, 'text', (part) => void (part.citations = event.citations));
        return this.#partMetadata(event.id, event.providerMetadata);
      case 'reasoning-end':
        return this.#partMetadata(event.id, event.providerMetadata);
      case 'tool-input-start':
        return this.#add(event.toolCallId, newToolPart(event));
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
        const { at: _, origin: __, ...part } = event;
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
      case 'raw':
        // Beside the message: the log and the tape keep them.
        return;
      default:
        // A newer writer's event. The log keeps it too.
        return;
    }
  }

  snapshot(): MessageSnapshot {
    this.#lastTaken = this.#version;
    this.#owned = new WeakSet();
    return new Snapshot(
      this.#version,
      this.#partId,
      this.#lastDelta,
      this.#length,
      this.#envelope,
      this.#rest,
      this.#parts.take(),
    );
  }

  #delta(id: string, delta: string, metadata: Meta | undefined, type: 'text' | 'reasoning' | 'tool-invocation'): void {
    const part = this.#mine(id);
    if (part?.type !== type) return this.#misfit(`${type} delta`, id);
    let text: string;
    if (part.type === 'text') text = part.text += delta;
    else if (part.type === 'reasoning') text = part.reasoning += delta;
    else if (part.state === 'partial-call') text = part.argsText = (part.argsText ?? '') + delta;
    else return this.#misfit('tool-input delta', id);
    if (metadata) part.providerMetadata = mergeMeta(part.providerMetadata, metadata)!;
    this.#partId = id;
    this.#lastDelta = delta;
    this.#length = text.length;
  }

  #runStart(event: EventOf<'run-start'>): void {
    this.#envelope = { ...this.#envelope, runId: event.runId, status: 'streaming' };
  }

  #runEnd(event: EventOf<'run-end'>): void {
    const { type: _, at: __, origin: ___, resume, providerMetadata, ...ended } = event;
    const run: RunEntry = { runId: this.#envelope.runId ?? '', ...ended };
    const runs = (this.#rest.runs ?? []).filter((entry) => entry.runId !== run.runId);
    this.#set({ runs: [...runs, run] });
    const merged = mergeMeta(this.#rest.providerMetadata, providerMetadata);
    if (merged) this.#set({ providerMetadata: merged });
    // The token is what this run has said; an older one no longer fits.
    const { sourceState: ____, ...envelope } = this.#envelope;
    this.#envelope = { ...envelope, status: event.outcome, ...(resume !== undefined && { sourceState: resume }) };
  }

  /** The snapshot is taken as it is, but a call never goes back, and one that is known never disappears. */
  #restate(content: MessageContent): void {
    const known = new Map<string, ToolPart>();
    for (let index = 0; index < this.#parts.length; index++) {
      const part = this.#parts.at(index)!;
      if (part.type === 'tool-invocation') known.set(part.toolCallId, part);
    }
    const { parts, ...rest } = content;
    const restated = parts.map((part) => {
      const before = part.type === 'tool-invocation' ? known.get(part.toolCallId) : undefined;
      if (before) known.delete(before.toolCallId);
      return before && part.type === 'tool-invocation' && takesBack(before.state, part.state) ? before : part;
    });
    this.#rest = rest;
    this.#parts.reset([...restated, ...known.values()]);
    this.#index();
  }

  #agentStart(event: EventOf<'agent-start'>): void {
    const { type: _, at: __, origin: ___, agentId, ...entry } = event;
    this.#enter('agents', agentId, entry);
  }

  #agentEnd(event: EventOf<'agent-end'>): void {
    const entry = this.#rest.agents?.[event.agentId];
    if (!entry) return this.#misfit('agent-end', event.agentId);
    const { result, usage, outcome } = event;
    const ended: AgentEntry = { ...entry, outcome };
    if (event.outcome === 'error') ended.error = event.error;
    if (result !== undefined) ended.result = result;
    if (usage) ended.usage = usage;
    this.#enter('agents', event.agentId, ended);
  }

  #stepStart(event: EventOf<'step-start'>): void {
    const { agentId, name } = event;
    this.#enter('steps', event.stepId, {
      ...(agentId !== undefined && { agentId }),
      ...(name !== undefined && { name }),
    });
  }

  #stepEnd(event: EventOf<'step-end'>): void {
    const entry = this.#rest.steps?.[event.stepId];
    if (!entry) return this.#misfit('step-end', event.stepId);
    if (event.discarded) return this.#discard(event.stepId);
    const { type: _, at: __, origin: ___, stepId, warnings: ____, discarded: _____, ...said } = event;
    this.#enter('steps', stepId, { ...entry, ...said });
  }

  /** The turn was retried: what it said never happened, nor was anything asked about its calls. */
  #discard(stepId: string): void {
    const kept: MessagePart[] = [];
    const gone = new Set<string>();
    for (let index = 0; index < this.#parts.length; index++) {
      const part = this.#parts.at(index)!;
      if (part.stepId === stepId) {
        if (part.type === 'tool-invocation') gone.add(part.toolCallId);
      } else if (part.type !== 'question' || !gone.has(part.toolCallId ?? '')) kept.push(part);
    }
    this.#parts.reset(kept);
    this.#index();
    const { steps: { [stepId]: _, ...others } = {}, ...rest } = this.#rest;
    this.#rest = Object.keys(others).length === 0 ? rest : { ...rest, steps: others };
  }

  #toolCall(event: EventOf<'tool-call'>): void {
    const part = this.#mine(event.toolCallId);
    if (part === undefined) return this.#add(event.toolCallId, newToolPart(event));
    if (part.type !== 'tool-invocation' || part.state !== 'partial-call')
      return this.#misfit('tool-call', event.toolCallId);
    completeCall(part, event);
  }

  #toolResult(event: EventOf<'tool-result'>): void {
    const part = this.#mine(event.toolCallId);
    if (part?.type !== 'tool-invocation' || isSettled(part.state) || part.state === 'partial-call') {
      return this.#misfit('tool-result', event.toolCallId);
    }
    settleCall(part, event);
  }

  /** About a call: its approval. About nothing, or the call has been asked about before: a part of its own. */
  #question(event: EventOf<'question'>): void {
    const { type: _, at: __, origin: ___, agentId, ...question } = event;
    const call = question.toolCallId === undefined ? undefined : this.#mine(question.toolCallId);
    if (call?.type === 'tool-invocation' && call.approval === undefined) {
      call.approval = question;
      this.#places.set(question.questionId, this.#places.get(call.toolCallId)!);
    } else this.#add(question.questionId, { type: 'question', ...(agentId !== undefined && { agentId }), ...question });
  }

  #answer(event: EventOf<'answer'>): void {
    const { type: _, at: __, origin: ___, ...answer } = event;
    const part = this.#mine(event.questionId);
    if (part?.type === 'tool-invocation' && part.approval?.questionId === event.questionId) {
      part.approval = answered(part.approval, answer);
    } else if (part?.type === 'question') Object.assign(part, answered(part, answer));
    else this.#misfit('answer', event.questionId);
  }

  #data(event: EventOf<'data'>): void {
    if (event.transient) {
      this.#transient.add(event.id);
      return;
    }
    const { at: _, origin: __, transient: ___, ...part } = event;
    const before = this.#mine(event.id);
    if (before === undefined) return this.#add(event.id, part);
    if (before.type !== 'data') return this.#misfit('data', event.id);
    Object.assign(before, { name: part.name, data: part.data });
    const metadata = mergeMeta(before.providerMetadata, part.providerMetadata);
    if (metadata) before.providerMetadata = metadata;
  }

  #dataDelta(event: EventOf<'data-delta'>): void {
    const part = this.#mine(event.id);
    if (part === undefined && this.#transient.has(event.id)) return;
    if (part?.type !== 'data') return this.#misfit('data-delta', event.id);
    const data = this.#patched(part.data, event.patch, event.id);
    if (data !== undefined) part.data = data;
  }

  #stateDelta(event: EventOf<'state-delta'>): void {
    const state = this.#patched(this.#envelope.state ?? {}, event.patch);
    if (state !== undefined) this.#envelope = { ...this.#envelope, state };
  }

  #patched(value: Json, patch: Op[], id?: string): Json | undefined {
    const patched = applyPatch(value, patch, this.#owned);
    if (patched.ok) return patched.value;
    const what = id === undefined ? 'state-delta' : 'data-delta';
    const why = `Operation ${patched.index} cannot be applied: ${patched.message}. Nothing was changed.`;
    this.#onLoss({ kind: 'repaired', what, why, ...(id !== undefined && { id }) });
    return undefined;
  }

  #partMetadata(id: string, metadata: Meta | undefined): void {
    if (metadata === undefined) return;
    const part = this.#mine(id);
    if (part === undefined) return this.#misfit('metadata', id);
    part.providerMetadata = mergeMeta(part.providerMetadata, metadata)!;
  }

  #edit(id: string, type: 'text', change: (part: MessagePart & { type: 'text' }) => void): void {
    const part = this.#mine(id);
    if (part?.type === type) change(part);
    else this.#misfit(type, id);
  }

  /** The part of that id, to be changed in place: copied first if a snapshot has seen it. */
  #mine(id: string): MessagePart | undefined {
    const place = this.#places.get(id);
    if (place === undefined) return undefined;
    const part = this.#parts.at(place)!;
    if (this.#madeAt[place]! > this.#lastTaken) return part;
    const copy = { ...part };
    this.#madeAt[place] = this.#version;
    this.#parts.set(place, copy);
    return copy;
  }

  #add(id: string, part: MessagePart): void {
    if (this.#places.has(id)) return this.#misfit(part.type, id);
    this.#places.set(id, this.#parts.length);
    this.#madeAt.push(this.#version);
    this.#parts.push(part);
  }

  #enter<Key extends 'agents' | 'steps'>(
    key: Key,
    id: string,
    entry: Key extends 'agents' ? AgentEntry : StepEntry,
  ): void {
    const directory = this.#rest[key] as Directory<typeof entry> | undefined;
    if (directory && this.#owned.has(directory)) {
      directory[id] = entry;
      return;
    }
    const copy = { ...directory, [id]: entry };
    this.#owned.add(copy);
    this.#set({ [key]: copy });
  }

  #set(change: Partial<Rest>): void {
    this.#rest = { ...this.#rest, ...change };
  }

  #index(): void {
    this.#places = new Map();
    this.#madeAt = [];
    for (let place = 0; place < this.#parts.length; place++) {
      const part = this.#parts.at(place)!;
      for (const id of idsOf(part)) if (!this.#places.has(id)) this.#places.set(id, place);
      // Whoever gave us this part still knows it.
      this.#madeAt.push(-1);
    }
  }

  #misfit(what: string, id: string): void {
    this.#onLoss({ kind: 'repaired', what, why: 'It refers to nothing that it fits, and was passed over.', id });
  }
}

/** The ids that events may refer to a part by. */
function idsOf(part: MessagePart): string[] {
  if (part.type === 'tool-invocation') {
    return part.approval ? [part.toolCallId, part.approval.questionId] : [part.toolCallId];
  }
  if (part.type === 'question') return [part.questionId];
  return part.id === undefined ? [] : [part.id];
}

class Snapshot implements MessageSnapshot {
  readonly version: number;
  readonly partId: string | undefined;
  readonly lastDelta: string;
  readonly length: number;
  #envelope: Envelope;
  #rest: Rest;
  #parts: ReturnType<VersionedList<MessagePart>['take']>;
  #message: CanonicalMessage | undefined;

  constructor(
    version: number,
    partId: string | undefined,
    lastDelta: string,
    length: number,
    envelope: Envelope,
    rest: Rest,
    parts: ReturnType<VersionedList<MessagePart>['take']>,
  ) {
    this.version = version;
    this.partId = partId;
    this.lastDelta = lastDelta;
    this.length = length;
    this.#envelope = envelope;
    this.#rest = rest;
    this.#parts = parts;
  }

  get messageId(): string {
    return this.#envelope.id;
  }

  get message(): CanonicalMessage {
    const { format, ...rest } = this.#rest;
    return (this.#message ??= { ...this.#envelope, content: { format, parts: itemsOf(this.#parts), ...rest } });
  }
}
