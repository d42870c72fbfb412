import type { Message, RunAgentInput } from '@ag-ui/core';
import {
  applyPatch,
  MessageList,
  type AgentEvent,
  type Emit,
  type Encoder,
  type End,
  type EventOf,
  type Fault,
  type Json,
  type Loss,
  type MessageContent,
  type MessagePart,
  type OnLoss,
} from '@intertie/core';
import type { AGUIEncoderOptions, AGUIOpenState } from './ag-ui-encoder-options.ts';
import type { AGUIEvent } from './ag-ui-event.ts';
import { declaredVersion, featuresOf, type AGUIFeatures } from './ag-ui-version.ts';
import { AGUIAgents, tag } from './encode-agents.ts';
import { AGUIActivities } from './encode-activities.ts';
import { AGUIPhases } from './encode-phases.ts';
import { AGUIQuestions } from './encode-questions.ts';
import { AGUITools, type Form } from './encode-tools.ts';
import { AGUIWords } from './encode-words.ts';
import { encryptedValueOf } from './encrypted-value.ts';
import { encodeRunEnd } from './encode-run-end.ts';
import { customNames, slot } from './intertie-slot.ts';
import { MessageGroups } from './message-groups.ts';
import { mergeMessages } from './merge-messages.ts';
import { saidSlot } from './part-slot.ts';
import { defined } from './read-fields.ts';
import { snapshotsFor } from './snapshot-order.ts';
import { resultIdsOf, toAGUIMessages } from './to-ag-ui-messages.ts';
import { Withheld } from './withheld.ts';

/** Encodes canonical events as AG-UI: a pure function of the options and the events. */
export function createAGUIEncoder(options: AGUIEncoderOptions = {}): Encoder<AGUIEvent, AGUIOpenState> {
  return new AGUIEncoder(options);
}

type Write = (event: AGUIEvent) => void;
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
  #withheld: Withheld;
  #questions: AGUIQuestions;
  #state: { value: Json } | undefined;
  #owned = new WeakSet<object>();
  #groups = new MessageGroups();
  #agents: AGUIAgents;
  #tools: AGUITools;
  #words: AGUIWords;
  #phases: AGUIPhases | undefined;
  #activities = new AGUIActivities();
  #fold: MessageList | undefined;
  #history: readonly Message[] | undefined;
  #resultIds: ReadonlyMap<string, string> | undefined;
  #time: number | undefined;
  #emit: Emit<AGUIEvent> = () => undefined;

  constructor(options: AGUIEncoderOptions) {
    this.#options = options;
    this.#features = featuresOf(options.protocolVersion);
    this.#onLoss = options.onLoss ?? (() => undefined);
    const { stepNames = 'turns', preliminary = 'withhold', messages, form = 'triads' } = options;
    this.#agents = new AGUIAgents(this.#features.subagents, stepNames, this.#onLoss);
    this.#questions = new AGUIQuestions(this.#agents);
    const { v1: contentParts, reopenedCalls } = this.#features;
    this.#tools = new AGUITools({ contentParts, reopenedCalls, preliminary, onLoss: this.#onLoss }, this.#groups);
    const { sendReasoning = true, sendInternal = false, timestamps = false, snapshot = false, baseline } = options;
    this.#withheld = new Withheld(sendInternal, this.#onLoss);
    this.#words = new AGUIWords({
      sendReasoning,
      notesText: options.result === 'text',
      groups: this.#groups,
      agents: this.#agents,
      withheld: this.#withheld,
      onLoss: this.#onLoss,
    });
    if (stepNames === 'phases') this.#phases = new AGUIPhases(this.#tools, this.#agents);
    this.#history = messages;
    if (messages !== undefined) this.#fold = new MessageList();
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
        return this.#words.delta(event, this.#write);
      case 'tool-input-delta':
        if (!this.#tools.delta(event, this.#write)) this.#withheld.missing(event.type, event.toolCallId);
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
    this.#words.reopen(this.#write);
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
        return this.#words.start(event, this.#form(), write);
      case 'text-end':
      case 'reasoning-end':
        return this.#words.end(event, write);
      case 'tool-input-start':
        if (this.#withheld.admit(event, event.toolCallId)) {
          this.#tools.start(event, this.#agents.owner(event.agentId), this.#form(), write);
        }
        return;
      case 'tool-input-end':
        return void this.#tools.inputEnd(event);
      case 'tool-call':
        if (this.#tools.has(event.toolCallId) || this.#withheld.admit(event, event.toolCallId)) {
          this.#tools.call(event, this.#agents.owner(event.agentId), this.#form(), write);
        }
        return;
      case 'tool-result':
        return this.#result(event);
      case 'question':
        this.#questions.ask(event);
        return this.#custom('question', event, this.#agents.owner(event.agentId));
      case 'answer':
        this.#questions.answer(event);
        return this.#custom('answer', event);
      case 'interjection':
        return this.#interjection(event);
      case 'file':
      case 'source':
        if (this.#withheld.admit(event, event.id)) this.#custom(event.type, event, this.#agents.owner(event.agentId));
        return;
      case 'data': {
        if (!this.#withheld.admit(event, event.id)) return;
        return this.#activities.data(event, this.#agents.owner(event.agentId), write);
      }
      case 'data-delta':
        if (!this.#activities.delta(event, write)) this.#withheld.missing(event.type, event.id);
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
      if (id !== undefined) this.#withheld.learn(id);
      return;
    }
    if (part.type === 'tool-invocation') {
      if (!this.#tools.has(part.toolCallId)) this.#tools.learn(part, this.#agents.owner(part.agentId));
      if (part.approval && !part.approval.answer) this.#questions.ask(part.approval);
    } else if (part.type === 'question') {
      if (!part.answer) this.#questions.ask(part);
    } else if (part.type === 'data') this.#activities.learn(part);
    else if (part.id !== undefined) this.#words.learn(part.id, part.providerMetadata);
  }

  #result(event: EventOf<'tool-result'>): void {
    if (this.#withheld.has(event.toolCallId) || this.#phases?.hold(event)) return;
    if (!this.#tools.result(event, this.#write)) this.#withheld.missing(event.type, event.toolCallId);
  }

  #stepEnd(event: EventOf<'step-end'>): void {
    // A snapshot takes its calls back: they are closed before it, and nobody asks for them after it.
    if (event.discarded && this.#history !== undefined) {
      this.#phases?.discard(event.stepId);
      this.#tools.discard(event.stepId, this.#write);
    }
    this.#agents.stepEnd(event, this.#write);
    this.#phases?.flush(event.stepId, this.#write);
    if (event.discarded) this.#writeMessages('step-end discarded');
  }

  #interjection(event: EventOf<'interjection'>): void {
    const { id: messageId, role, name, parts } = event;
    this.#groups.interrupt(event);
    if (!this.#withheld.admit(event, messageId)) return;
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
    if (this.#withheld.has(id) || this.#words.amend(id, providerMetadata)) return;
    if (encryptedValueOf(providerMetadata) === undefined) {
      return this.#write({ type: 'CUSTOM', name: customNames.metadata, value: { id, providerMetadata } });
    }
    if (this.#tools.has(id)) return this.#tools.metadata(id, providerMetadata, this.#write);
    this.#words.metadata(id, providerMetadata, this.#write);
  }

  #custom(name: keyof typeof customNames, event: AgentEvent, owner?: string): void {
    const { type: _, at: __, origin: ___, ...value } = event;
    this.#write({ type: 'CUSTOM', name: customNames[name], value, ...tag(owner) });
  }

  #runEnd(event: EndEvent): void {
    this.#words.closeAll(this.#write);
    this.#tools.closeInputs(this.#write);
    this.#phases?.flushAll(this.#write);
    const left = this.#tools.settle(this.#questions.calls(event), this.#write);
    this.#agents.closeAll(this.#write);
    if (this.#options.snapshot && this.#run) this.#writeMessages('snapshot');
    this.#phase = 'ended';
    if (event.resume !== undefined) {
      this.#lose({ kind: 'withheld', what: 'run-end resume', why: "The runtime's own token is not for the client." });
    }
    const interrupts = this.#questions.interrupts(event);
    const result = this.#options.result === 'text' ? this.#textResult(event) : event.result;
    this.#write(encodeRunEnd(event, { run: this.#run, features: this.#features, interrupts, left, result }));
  }

  #textResult({ finishReason = 'stop' }: EndEvent): Json {
    return { text: this.#words.lastText, finishReason };
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
    return form === 'chunks' && !this.#words.isStreaming && !this.#tools.isStreaming ? 'chunks' : 'triads';
  }

  #lose(loss: Loss): void {
    this.#onLoss(loss);
  }
}
