import type { Message, RunAgentInput } from '@ag-ui/core';
import {
  applyPatch,
  MessageList,
  mergeMeta,
  type AgentEvent,
  type Emit,
  type Encoder,
  type End,
  type EventOf,
  type Fault,
  type Json,
  type JsonObject,
  type Loss,
  type MessageContent,
  type MessagePart,
  type Meta,
  type OnLoss,
  type Question,
  type Said,
} from '@intertie/core';
import type { AGUIEvent, AGUIRunInput } from './ag-ui-event.ts';
import { declaredVersion, featuresOf, type AGUIFeatures } from './ag-ui-version.ts';
import { AGUIAgents, tag, type StepNames } from './encode-agents.ts';
import { AGUIActivities } from './encode-activities.ts';
import { AGUITools, type Form } from './encode-tools.ts';
import { encryptedValueOf } from './encrypted-value.ts';
import { encodeRunEnd } from './encode-run-end.ts';
import { encodeInterrupt } from './interrupt.ts';
import { customNames, slot } from './intertie-slot.ts';
import { MessageGroups } from './message-groups.ts';
import { mergeMessages } from './merge-messages.ts';
import { saidSlot } from './part-slot.ts';
import { defined } from './read-fields.ts';
import { snapshotsFor } from './snapshot-order.ts';
import { resultIdsOf, toAGUIMessages } from './to-ag-ui-messages.ts';

export interface AGUIEncoderOptions {
  /** What the client speaks: `1.0`, or an older package's version. Default: what all since 0.0.45 take. */
  protocolVersion?: string;
  /** `chunks` say the id on every one; parts that interleave are triads all the same. Default: triads. */
  form?: Form;
  /** Whether every event says when it was, as far as the canonical one does. Default: no. */
  timestamps?: boolean;
  /** How the model's turns are called. Default: `turns`. */
  stepNames?: StepNames;
  /** Default: yes. */
  sendReasoning?: boolean;
  /** What agents say to each other. Default: no. */
  sendInternal?: boolean;
  /** Preliminary results as activities. Default: they are withheld. */
  preliminary?: 'activity' | 'withhold';
  /** The history that the client has. Only with it can a snapshot be written, since what one leaves out is deleted. */
  messages?: readonly Message[];
  /** Whether the messages are told once more before the end. Default: no. */
  snapshot?: boolean;
  /** What a continuation does with the message that it continues. Default: the client has sent it. */
  baseline?: 'assume' | 'restate';
  /** The result of the run: what the run says, or the last turn's text and finish reason. Default: `run`. */
  result?: 'run' | 'text';
  /** The request, where `RUN_STARTED` is to repeat it. */
  echo?: AGUIRunInput;
  onLoss?: OnLoss;
}

/** What a client that joins in the middle is told: the branch before the message, and the events of the run so far. */
export type AGUIOpenState = {
  history: readonly Message[];
  events: Iterable<AgentEvent>;
  /** The messages that the client has, if it says so: what it has given itself keeps its id, and all is where it belongs. */
  known?: readonly Message[];
};

/** Encodes canonical events as AG-UI: a pure function of the options and the events. */
export function createAGUIEncoder(options: AGUIEncoderOptions = {}): Encoder<AGUIEvent, AGUIOpenState> {
  return new AGUIEncoder(options);
}

type Write = (event: AGUIEvent) => void;
type Part = {
  kind: 'text' | 'reasoning';
  form: Form;
  owner: string | undefined;
  said: Said;
  meta: Meta | undefined;
  isSaid: boolean;
  name?: string;
};
type EndEvent = EventOf<'run-end'>;
type PartMetadata = Extract<EventOf<'metadata'>, { id: string }>;

class AGUIEncoder implements Encoder<AGUIEvent, AGUIOpenState> {
  readonly version = '1';
  readonly optionsKey: string;
  #options: AGUIEncoderOptions;
  #features: AGUIFeatures;
  #onLoss: OnLoss;
  #phase: 'before' | 'baseline' | 'running' | 'ended' = 'before';
  #run: { threadId: string; runId: string; parentRunId?: string } | undefined;
  #open = new Map<string, Part>();
  #closed = new Map<string, Meta | undefined>();
  #withheld = new Set<string>();
  #questions = new Map<string, EventOf<'question'>>();
  #heldResults = new Map<string, Array<EventOf<'tool-result'>>>();
  #state: { value: Json } | undefined;
  #owned = new WeakSet<object>();
  #groups = new MessageGroups();
  #agents: AGUIAgents;
  #tools: AGUITools;
  #activities = new AGUIActivities();
  #fold: MessageList | undefined;
  #history: readonly Message[] | undefined;
  #resultIds: ReadonlyMap<string, string> | undefined;
  #lastText = { stepId: undefined as string | undefined, text: '' };
  #time: number | undefined;
  #emit: Emit<AGUIEvent> = () => undefined;

  constructor(options: AGUIEncoderOptions) {
    this.#options = options;
    this.#features = featuresOf(options.protocolVersion);
    this.#onLoss = options.onLoss ?? (() => undefined);
    const { stepNames = 'turns', preliminary = 'withhold', messages, form = 'triads' } = options;
    this.#agents = new AGUIAgents(this.#features.subagents, stepNames, this.#onLoss);
    this.#tools = new AGUITools({ contentParts: this.#features.v1, preliminary, onLoss: this.#onLoss }, this.#groups);
    this.#history = messages;
    if (messages !== undefined) this.#fold = new MessageList();
    const { sendReasoning = true, sendInternal = false, timestamps = false, snapshot = false, baseline } = options;
    const flags = [
      sendReasoning,
      sendInternal,
      timestamps,
      snapshot,
      preliminary === 'activity',
      baseline === 'restate',
    ];
    const names = typeof stepNames === 'string' ? stepNames : 'own';
    this.optionsKey = `${options.protocolVersion ?? 'any'}-${form}-${names}-${flags.map(Number).join('')}`;
  }

  feed(event: AgentEvent, emit: Emit<AGUIEvent>): void {
    this.#emit = emit;
    if (event.at !== undefined) this.#time = Math.trunc(event.at);
    this.#fold?.feed(event);
    switch (event.type) {
      case 'text-delta':
      case 'reasoning-delta':
        return this.#delta(event);
      case 'tool-input-delta':
        if (this.#withheld.has(event.toolCallId)) return;
        if (!this.#tools.delta(event, this.#write)) this.#missing(event.type, event.toolCallId);
        return;
      default:
        return this.#feed(event);
    }
  }

  /** The run was cut off before its own last word: the client must not take it for a complete one. */
  end(end: End, emit: Emit<AGUIEvent>): void {
    if (this.#phase === 'ended') return;
    this.#emit = emit;
    const truncated: Fault = { message: 'The stream ended before the run did.', code: 'truncated' };
    const ended: EndEvent =
      end.reason === 'aborted'
        ? { type: 'run-end', outcome: 'aborted', ...defined({ by: end.by, reason: end.message }) }
        : { type: 'run-end', outcome: 'error', error: end.reason === 'error' ? end.error : truncated };
    this.#fold?.feed(ended);
    this.#runEnd(ended);
  }

  /** A snapshot of all that was said, and what is open opened again; what is fed next goes on from there. */
  open({ history, events, known = [] }: AGUIOpenState, emit: Emit<AGUIEvent>): void {
    this.#history = history;
    this.#resultIds = resultIdsOf(known);
    this.#fold = new MessageList();
    let last: AGUIEvent | undefined;
    for (const event of events) this.feed(event, (written) => void (last = written));
    this.#emit = emit;
    if (this.#run === undefined) return;
    this.#runStarted();
    if (this.#state) this.#write({ type: 'STATE_SNAPSHOT', snapshot: structuredClone(this.#state.value) });
    for (const messages of snapshotsFor(known, this.#messages(true))) {
      this.#write({ type: 'MESSAGES_SNAPSHOT', messages });
    }
    if (this.#phase === 'ended') {
      if (last) this.#write(last);
      return;
    }
    this.#agents.reopen(this.#write);
    for (const [id, part] of this.#open) {
      part.form = 'triads';
      this.#openPart(id, part, {});
    }
    this.#tools.reopen(this.#write);
  }

  /** Fresh objects only: the time is written into them. */
  #write: Write = (event) => {
    if (this.#options.timestamps && this.#time !== undefined) event.timestamp = this.#time;
    this.#emit(event);
  };

  #feed(event: AgentEvent): void {
    if (this.#phase === 'ended') {
      return this.#lose({ kind: 'late', what: event.type, why: 'It came after the run had ended.' });
    }
    if (event.type === 'run-start') return this.#runStart(event);
    if (event.type === 'message-snapshot') return this.#snapshot(event.content);
    this.#phase = 'running';
    this.#event(event);
  }

  #event(event: AgentEvent): void {
    const write = this.#write;
    switch (event.type) {
      case 'text-start':
      case 'reasoning-start':
        return this.#partStart(event);
      case 'text-end':
      case 'reasoning-end':
        return this.#partEnd(event);
      case 'tool-input-start':
        if (this.#admit(event, event.toolCallId)) {
          this.#tools.start(event, this.#agents.owner(event.agentId), this.#form(), write);
        }
        return;
      case 'tool-input-end':
        if (!this.#withheld.has(event.toolCallId)) this.#tools.inputEnd(event);
        return;
      case 'tool-call':
        if (this.#tools.has(event.toolCallId) || this.#admit(event, event.toolCallId)) {
          this.#tools.call(event, this.#agents.owner(event.agentId), this.#form(), write);
        }
        return;
      case 'tool-result':
        return this.#result(event);
      case 'question':
        this.#questions.set(event.questionId, event);
        return this.#custom('question', event, this.#agents.owner(event.agentId));
      case 'answer':
        this.#questions.delete(event.questionId);
        return this.#custom('answer', event);
      case 'interjection':
        return this.#interjection(event);
      case 'file':
      case 'source':
        if (this.#admit(event, event.id)) this.#custom(event.type, event, this.#agents.owner(event.agentId));
        return;
      case 'data': {
        if (!this.#admit(event, event.id)) return;
        return this.#activities.data(event, this.#agents.owner(event.agentId), write);
      }
      case 'data-delta':
        if (this.#withheld.has(event.id)) return;
        if (!this.#activities.delta(event, write)) this.#missing(event.type, event.id);
        return;
      case 'metadata':
        if (event.id !== undefined) this.#partMetadata(event);
        else this.#custom('metadata', event);
        return;
      case 'agent-start':
        // One that goes on after a pause is another sub-agent, and its calls are not in the old one's message.
        this.#groups.interrupt(event);
        return this.#agents.start(event, write);
      case 'agent-end':
        return this.#agents.end(event, write);
      case 'step-start':
        return this.#agents.stepStart(event, write);
      case 'step-end':
        return this.#stepEnd(event);
      case 'state-snapshot':
        this.#state = { value: event.state };
        return write({ type: 'STATE_SNAPSHOT', snapshot: event.state });
      case 'state-delta':
        return this.#stateDelta(event);
      case 'notice':
        return this.#custom('notice', event, this.#agents.owner(event.agentId));
      case 'raw':
        return write({ type: 'RAW', event: event.value, source: event.dialect });
      case 'run-end':
        return this.#runEnd(event);
      default:
        return this.#lose({ kind: 'unsupported', what: event.type, why: 'This version does not know it.' });
    }
  }

  #runStart({ runId, threadId, parentRunId }: EventOf<'run-start'>): void {
    if (this.#phase !== 'before') {
      return this.#lose({ kind: 'repaired', what: 'run-start', why: 'The run had started already.', id: runId });
    }
    this.#phase = 'baseline';
    this.#run = { threadId, runId, ...defined({ parentRunId }) };
    this.#runStarted();
  }

  #runStarted(): void {
    const { echo: input } = this.#options;
    this.#write({
      type: 'RUN_STARTED',
      ...this.#run!,
      protocolVersion: declaredVersion,
      ...(input && { input: input as RunAgentInput }),
    });
  }

  /** The client has sent the message that is continued, or is told all of it; what contradicts the stream is told too. */
  #snapshot(content: MessageContent): void {
    const isBaseline = this.#phase === 'baseline';
    this.#phase = 'running';
    for (const part of content.parts) this.#learn(part);
    if (isBaseline && this.#options.baseline !== 'restate') return;
    this.#writeMessages('message-snapshot');
  }

  #learn(part: MessagePart): void {
    const id = part.type === 'tool-invocation' ? part.toolCallId : part.id;
    if (part.internal && !this.#options.sendInternal) {
      if (id !== undefined) this.#withheld.add(id);
      return;
    }
    if (part.type === 'tool-invocation') {
      if (!this.#tools.has(part.toolCallId)) this.#tools.learn(part, this.#agents.owner(part.agentId));
      if (part.approval && !part.approval.answer) this.#ask(part.approval);
    } else if (part.type === 'question') {
      if (!part.answer) this.#ask(part);
    } else if (part.type === 'data') this.#activities.learn(part);
    else if (part.id !== undefined) this.#closed.set(part.id, part.providerMetadata);
  }

  #ask(question: Question): void {
    this.#questions.set(question.questionId, { ...question, type: 'question' });
  }

  #partStart(event: EventOf<'text-start' | 'reasoning-start'>): void {
    const { type, at: _, origin: __, id, ...said } = event;
    const kind = type === 'text-start' ? 'text' : 'reasoning';
    if (kind === 'text') this.#groups.text(id, said);
    else this.#groups.interrupt(said);
    if (kind === 'reasoning' && this.#options.sendReasoning === false)
      return this.#withhold(type, id, 'Reasoning is off.');
    if (!this.#admit(event, id)) return;
    const owner = this.#agents.owner(event.agentId);
    const form = kind === 'text' ? this.#form() : 'triads';
    const name = kind === 'text' ? this.#agents.voice(event.agentId) : undefined;
    const part: Part = { kind, form, owner, said, meta: said.providerMetadata, isSaid: false, ...defined({ name }) };
    this.#open.set(id, part);
    if (form === 'triads') this.#openPart(id, part, saidSlot(said, owner));
  }

  #openPart(messageId: string, { kind, owner, name }: Part, kept: JsonObject): void {
    const more = { ...tag(owner), ...slot(kept) };
    if (kind === 'text') {
      return this.#write({ type: 'TEXT_MESSAGE_START', messageId, role: 'assistant', ...defined({ name }), ...more });
    }
    this.#write({ type: 'REASONING_START', messageId, ...tag(owner) });
    this.#write({ type: 'REASONING_MESSAGE_START', messageId, role: 'reasoning', ...more });
  }

  #delta({ type, id: messageId, delta, providerMetadata }: EventOf<'text-delta' | 'reasoning-delta'>): void {
    const part = this.#open.get(messageId);
    if (part === undefined) {
      if (!this.#withheld.has(messageId)) this.#missing(type, messageId);
      return;
    }
    if (providerMetadata) part.meta = mergeMeta(part.meta, providerMetadata);
    if (delta === '') return;
    if (part.kind === 'reasoning') return this.#write({ type: 'REASONING_MESSAGE_CONTENT', messageId, delta });
    if (this.#options.result === 'text') this.#note(part.said.stepId, delta);
    if (part.form === 'triads') return this.#write({ type: 'TEXT_MESSAGE_CONTENT', messageId, delta });
    const { owner, said, name } = part;
    const first = part.isSaid ? undefined : { ...defined({ name }), ...slot(saidSlot(said, owner)) };
    part.isSaid = true;
    this.#write({ type: 'TEXT_MESSAGE_CHUNK', messageId, role: 'assistant', delta, ...tag(owner), ...first });
  }

  /** The text of the last turn that said something. */
  #note(stepId: string | undefined, delta: string): void {
    if (this.#lastText.stepId !== stepId) this.#lastText = { stepId, text: '' };
    this.#lastText.text += delta;
  }

  #partEnd(event: EventOf<'text-end' | 'reasoning-end'>): void {
    const { id: messageId } = event;
    const part = this.#open.get(messageId);
    if (part === undefined) {
      if (!this.#withheld.has(messageId)) this.#missing(event.type, messageId);
      return;
    }
    this.#open.delete(messageId);
    part.meta = mergeMeta(part.meta, event.providerMetadata);
    this.#closed.set(messageId, part.meta);
    const citations = event.type === 'text-end' ? event.citations : undefined;
    const hasMore = part.meta !== part.said.providerMetadata || citations !== undefined;
    const kept = hasMore ? slot({ ...saidSlot(part.said, part.owner, part.meta), ...defined({ citations }) }) : {};
    if (part.kind === 'text') {
      if (part.form === 'triads') this.#write({ type: 'TEXT_MESSAGE_END', messageId, ...kept });
      else if (!part.isSaid || kept.metadata) this.#lose(chunkLoss(messageId, part.isSaid));
      if (part.form === 'triads' || part.isSaid) this.#encrypted(messageId, part.meta);
      return;
    }
    this.#write({ type: 'REASONING_MESSAGE_END', messageId, ...kept });
    this.#encrypted(messageId, part.meta);
    this.#write({ type: 'REASONING_END', messageId });
  }

  #encrypted(entityId: string, meta: Meta | undefined): void {
    const encryptedValue = encryptedValueOf(meta);
    if (encryptedValue === undefined) return;
    this.#write({ type: 'REASONING_ENCRYPTED_VALUE', subtype: 'message', entityId, encryptedValue });
  }

  #result(event: EventOf<'tool-result'>): void {
    const { toolCallId } = event;
    if (this.#withheld.has(toolCallId)) return;
    const stepId = this.#tools.stepOf(toolCallId);
    const isPreliminary = event.status === 'ok' && event.preliminary;
    const isTheirs = this.#tools.executorOf(toolCallId) === 'provider';
    if (this.#options.stepNames === 'phases' && !isPreliminary && !isTheirs && stepId !== undefined) {
      if (this.#agents.hasStep(stepId)) {
        const held = this.#heldResults.get(stepId) ?? [];
        held.push(event);
        return void this.#heldResults.set(stepId, held);
      }
    }
    if (!this.#tools.result(event, this.#write)) this.#missing(event.type, toolCallId);
  }

  #stepEnd(event: EventOf<'step-end'>): void {
    // A snapshot takes its calls back: they are closed before it, and nobody asks for them after it.
    if (event.discarded && this.#history !== undefined) {
      this.#heldResults.delete(event.stepId);
      this.#tools.discard(event.stepId, this.#write);
    }
    this.#agents.stepEnd(event, this.#write);
    this.#flushResults(event.stepId);
    if (event.discarded) this.#writeMessages('step-end discarded');
  }

  /** What the tools of a turn gave back, as a phase of its own. */
  #flushResults(stepId: string): void {
    const held = this.#heldResults.get(stepId) ?? [];
    this.#heldResults.delete(stepId);
    const written: AGUIEvent[] = [];
    for (const result of held) this.#tools.result(result, (event) => void written.push(event));
    if (written.length === 0) return;
    const owner = this.#tools.ownerOf(held[0]!.toolCallId);
    this.#agents.executing(owner, this.#write, () => written.forEach(this.#write));
  }

  #interjection(event: EventOf<'interjection'>): void {
    const { id: messageId, role, name, parts } = event;
    this.#groups.interrupt(event);
    if (!this.#admit(event, messageId)) return;
    const owner = this.#agents.owner(event.agentId);
    const isPlain = parts.length === 1 && parts[0]?.type === 'text' && Object.keys(parts[0]).length === 2;
    const kept = { ...saidSlot(event, owner), ...(!isPlain && { parts: parts as unknown as Json }) };
    const delta = parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('');
    this.#write({ type: 'TEXT_MESSAGE_START', messageId, role, ...defined({ name }), ...tag(owner), ...slot(kept) });
    if (delta !== '') this.#write({ type: 'TEXT_MESSAGE_CONTENT', messageId, delta });
    this.#write({ type: 'TEXT_MESSAGE_END', messageId });
  }

  #stateDelta({ patch }: EventOf<'state-delta'>): void {
    const patched = applyPatch(this.#state?.value ?? {}, patch, this.#owned);
    if (!patched.ok) {
      return this.#lose({ kind: 'repaired', what: 'state-delta', why: `It cannot be applied: ${patched.message}.` });
    }
    this.#state = { value: patched.value };
    this.#write({ type: 'STATE_DELTA', delta: patch });
  }

  #partMetadata({ id, providerMetadata }: PartMetadata): void {
    if (this.#withheld.has(id)) return;
    const open = this.#open.get(id);
    if (open) return void (open.meta = mergeMeta(open.meta, providerMetadata));
    if (encryptedValueOf(providerMetadata) === undefined) {
      return this.#write({ type: 'CUSTOM', name: customNames.metadata, value: { id, providerMetadata } });
    }
    if (this.#tools.has(id)) return this.#tools.metadata(id, providerMetadata, this.#write);
    const meta = mergeMeta(this.#closed.get(id), providerMetadata);
    this.#closed.set(id, meta);
    this.#encrypted(id, meta);
  }

  #custom(name: keyof typeof customNames, event: AgentEvent, owner?: string): void {
    const { type: _, at: __, origin: ___, ...value } = event;
    this.#write({ type: 'CUSTOM', name: customNames[name], value, ...tag(owner) });
  }

  #runEnd(event: EndEvent): void {
    for (const [id, { kind }] of this.#open) this.#partEnd({ type: `${kind}-end`, id });
    this.#tools.closeInputs(this.#write);
    for (const stepId of this.#heldResults.keys()) this.#flushResults(stepId);
    this.#tools.settle(this.#waiting(event), this.#write);
    this.#agents.closeAll(this.#write);
    if (this.#options.snapshot && this.#run) this.#writeMessages('snapshot');
    this.#phase = 'ended';
    if (event.resume !== undefined) {
      this.#lose({ kind: 'withheld', what: 'run-end resume', why: "The runtime's own token is not for the client." });
    }
    const questions = event.outcome === 'paused' ? this.#asked(event) : [];
    const interrupts = questions.map((question) => encodeInterrupt(question, this.#agents.owner(question.agentId)));
    const result = this.#options.result === 'text' ? this.#textResult(event) : event.result;
    this.#write(encodeRunEnd(event, { run: this.#run, features: this.#features, interrupts, result }));
  }

  /** The calls that somebody will still answer. */
  #waiting(event: EndEvent): Set<string> {
    if (event.outcome !== 'paused') return new Set();
    const tools = event.waitingFor.flatMap((waiting) => (waiting.type === 'tool' ? [waiting.toolCallId] : []));
    return new Set([...tools, ...this.#asked(event).flatMap(({ toolCallId }) => toolCallId ?? [])]);
  }

  #asked({ waitingFor }: Extract<EndEvent, { outcome: 'paused' }>): Array<EventOf<'question'>> {
    return waitingFor.flatMap((waiting) => {
      return waiting.type === 'question' ? (this.#questions.get(waiting.questionId) ?? []) : [];
    });
  }

  #textResult({ finishReason = 'stop' }: EndEvent): Json {
    return { text: this.#lastText.text, finishReason };
  }

  #writeMessages(what: string): void {
    if (this.#history !== undefined) {
      return this.#write({ type: 'MESSAGES_SNAPSHOT', messages: this.#messages(false) });
    }
    const why = 'A snapshot deletes what it leaves out, and the history before this run is not known here.';
    this.#lose({ kind: 'unsupported', what, why });
  }

  #messages(activities: boolean): Message[] {
    const message = this.#fold?.message;
    const { protocolVersion, sendReasoning = true, sendInternal = false } = this.#options;
    const { assistants } = this.#tools;
    const ownerOf = (agentId: string | undefined): string | undefined => this.#agents.owner(agentId);
    const known = defined({ protocolVersion, resultIds: this.#resultIds });
    const options = { ...known, sendReasoning, sendInternal, activities, assistants, ownerOf };
    return mergeMessages(this.#history ?? [], message ? toAGUIMessages(message, options) : []);
  }

  #form(): Form {
    const { form = 'triads' } = this.#options;
    return form === 'chunks' && this.#open.size === 0 && !this.#tools.isStreaming ? 'chunks' : 'triads';
  }

  #admit({ type, internal }: { type: string } & Said, id: string): boolean {
    if (!internal || this.#options.sendInternal) return true;
    this.#withhold(type, id, 'What agents say to each other is not shown.');
    return false;
  }

  #withhold(what: string, id: string, why: string): void {
    this.#withheld.add(id);
    this.#lose({ kind: 'withheld', what, why, id });
  }

  #missing(what: string, id: string): void {
    this.#lose({ kind: 'repaired', what, why: 'It refers to something that is not open.', id });
  }

  #lose(loss: Loss): void {
    this.#onLoss(loss);
  }
}

function chunkLoss(id: string, isSaid: boolean): Loss {
  if (!isSaid) return { kind: 'unsupported', what: 'text', why: 'Chunks cannot say a text without words.', id };
  return { kind: 'unsupported', what: 'metadata of a text', why: 'Chunks have no end that could say it.', id };
}
