import {
  capJson,
  createPartIds,
  equalJson,
  MessageList,
  toJson,
  validateEvent,
  type AgentEvent,
  type Codec,
  type Emit,
  type Json,
  type MessagePart,
  type Meta,
  type OnLoss,
  type Op,
  type PartIds,
  type RunInput,
  type Said,
} from '@intertie/core';
import { AGUIAgentReader, slotOf } from './decode-agents.ts';
import { decodeRunEnd } from './decode-run-end.ts';
import { correctContent } from './correct-content.ts';
import { fromCustomName, verbatimMeta } from './custom-name.ts';
import { eventsOfMessages } from './decode-messages-snapshot.ts';
import { AGUIToolReader } from './decode-tools.ts';
import { metaOfEncryptedValue } from './encrypted-value.ts';
import { expandChunks } from './expand-chunks.ts';
import { customNames, slotKey } from './intertie-slot.ts';
import { defined, fieldsOf, isFields, nameOf, textOf, type Fields } from './read-fields.ts';

export interface AGUIDecoderOptions {
  /** The messages that the agent was sent, by their ids: it may tell them again, and they are no news. */
  sent?: Iterable<string>;
  onLoss?: OnLoss;
}

/**
 * Decodes the events of an AG-UI agent, 0.0.45 to 1.0: triads and chunks, reasoning and what was called thinking before,
 * sub-agents, snapshots and patches. It takes anything and never throws; what it does not know becomes `raw`. What our own
 * encoder has put into the metadata comes back as it was. Put `seal` behind it.
 */
export function createAGUIDecoder(run: RunInput, options: AGUIDecoderOptions = {}): Codec<unknown, AgentEvent> {
  const chunks = expandChunks();
  const decoder = new AGUIDecoder(run, options);
  return {
    feed(value, emit) {
      if (isFields(value) && typeof value.type === 'string') {
        chunks.feed(value, (event) => decoder.feed(event, emit));
      } else decoder.lost(value, 'Events are objects with a type.', emit);
    },
    end: (end, emit) => chunks.end(end, (event) => decoder.feed(event, emit)),
  };
}

type Write = Emit<AgentEvent>;
/** `words`: of an interjection, which is told when it is whole. */
type Text = { id: string; meta: Meta | undefined; interjection?: { event: Fields; said: Said; words: string } };

class AGUIDecoder {
  #run: RunInput;
  #onLoss: OnLoss;
  #ids: PartIds;
  #agents: AGUIAgentReader;
  #tools: AGUIToolReader;
  #sent: Set<string>;
  #texts = new Map<string, Text>();
  #reasoning = new Map<string, Text>();
  /** The parts of messages, open or over, for what is said of them later. */
  #parts = new Map<string, string>();
  #activities = new Map<string, { id: string; isValue: boolean }>();
  #asked = new Set<string>();
  #hasState: boolean;
  #hasEnded = false;
  /** What was streamed, for a snapshot that says otherwise. */
  #fold = new MessageList();

  constructor(run: RunInput, { sent = [], onLoss = () => undefined }: AGUIDecoderOptions) {
    this.#run = run;
    this.#onLoss = onLoss;
    this.#ids = createPartIds(run);
    this.#agents = new AGUIAgentReader(run.runId);
    this.#tools = new AGUIToolReader(run, this.#ids, onLoss);
    this.#sent = new Set(sent);
    this.#hasState = run.state !== undefined;
    const { runId, threadId, messageId, message } = run;
    this.#fold.feed({ type: 'run-start', runId, threadId, messageId });
    if (message) this.#fold.feed({ type: 'message-snapshot', content: message });
  }

  feed(event: Fields, emit: Write): void {
    if (this.#hasEnded) {
      return this.#onLoss({ kind: 'late', what: String(event.type), why: 'It came after the run had ended.' });
    }
    const at = typeof event.timestamp === 'number' && Number.isFinite(event.timestamp) ? event.timestamp : undefined;
    const write: Write = (out) => {
      const timed = at === undefined || out.type.endsWith('-delta') ? out : { ...out, at };
      this.#fold.feed(timed);
      emit(timed);
    };
    if (!this.#decode(event, write)) this.lost(event, 'It does not fit where it is.', write);
  }

  /** What was not understood is kept as it came, and said so. */
  lost(value: unknown, why: string, emit: Write): void {
    emit({ type: 'raw', dialect: 'ag-ui', value: capJson(value, undefined, this.#onLoss) });
    const message = `${textOf(fieldsOf(value).type) ?? 'Something'} of the agent’s stream was passed over. ${why}`;
    emit({ type: 'notice', level: 'warning', message, code: 'malformed' });
  }

  /** Whether the event could be read. */
  #decode(event: Fields, emit: Write): boolean {
    switch (event.type) {
      case 'RUN_STARTED':
        return this.#runStarted(event, emit);
      case 'RUN_FINISHED':
      case 'RUN_ERROR':
        return this.#runEnd(event, emit);
      case 'STEP_STARTED':
        return this.#agents.stepStart(event, emit);
      case 'STEP_FINISHED':
        return this.#agents.stepEnd(event, emit);
      case 'SUBAGENT_STARTED':
        return this.#agents.start(event, emit);
      case 'SUBAGENT_FINISHED':
      case 'SUBAGENT_ERROR':
        return this.#agents.end(event, emit);
      case 'TEXT_MESSAGE_START':
        return this.#textStart(event, emit);
      case 'TEXT_MESSAGE_CONTENT':
        return this.#delta('text', this.#texts, event, emit);
      case 'TEXT_MESSAGE_END':
        return this.#textEnd(event, emit);
      case 'REASONING_START':
      case 'REASONING_END':
        // The span around a message says nothing that the message does not.
        return true;
      case 'REASONING_MESSAGE_START':
        return this.#reasoningStart(event, emit);
      case 'REASONING_MESSAGE_CONTENT':
        return this.#delta('reasoning', this.#reasoning, event, emit);
      case 'REASONING_MESSAGE_END':
        return this.#reasoningEnd(event, emit);
      case 'REASONING_ENCRYPTED_VALUE':
        return this.#encrypted(event, emit);
      case 'TOOL_CALL_START':
        return this.#tools.start(event, this.#said(event, emit), emit);
      case 'TOOL_CALL_ARGS':
        return this.#tools.args(event, emit);
      case 'TOOL_CALL_END':
        return this.#tools.end(event, emit);
      case 'TOOL_CALL_RESULT':
        return this.#tools.result(event, emit);
      case 'STATE_SNAPSHOT':
        this.#hasState = true;
        emit({ type: 'state-snapshot', state: this.#json(event.snapshot) });
        return true;
      case 'STATE_DELTA':
        return this.#stateDelta(event, emit);
      case 'ACTIVITY_SNAPSHOT':
        return this.#activity(event, emit);
      case 'ACTIVITY_DELTA':
        return this.#activityDelta(event, emit);
      case 'MESSAGES_SNAPSHOT':
        return this.#messages(event, emit);
      case 'CUSTOM':
        return this.#custom(event, emit);
      case 'RAW':
        emit({
          type: 'raw',
          dialect: textOf(event.source) ?? 'ag-ui',
          value: capJson(event.event, undefined, this.#onLoss),
        });
        return true;
      default:
        emit({ type: 'raw', dialect: 'ag-ui', value: capJson(event, undefined, this.#onLoss) });
        return true;
    }
  }

  /** The ids are ours; what the agent calls itself is metadata, where it differs. */
  #runStarted(event: Fields, emit: Write): boolean {
    const { messages } = fieldsOf(event.input);
    for (const message of Array.isArray(messages) ? messages : []) this.#sent.add(String(fieldsOf(message).id));
    const { runId, threadId } = this.#run;
    if (event.runId === runId && event.threadId === threadId) return true;
    const remote = defined({ runId: nameOf(event.runId), threadId: nameOf(event.threadId) });
    if (Object.keys(remote).length > 0) emit({ type: 'metadata', metadata: { 'ag-ui': remote } });
    return true;
  }

  #runEnd(event: Fields, emit: Write): boolean {
    const idOf = (wireId: string): string => this.#tools.idOf(wireId) ?? wireId;
    const { questions, end } = decodeRunEnd(event, this.#tools.pending(), idOf);
    for (const question of questions)
      if (!this.#asked.has(question.questionId)) emit({ type: 'question', ...question });
    this.#hasEnded = true;
    emit(end);
    return true;
  }

  #textStart(event: Fields, emit: Write): boolean {
    const messageId = nameOf(event.messageId);
    if (messageId === undefined || this.#texts.has(messageId)) return false;
    const role = event.role ?? 'assistant';
    const isOwn = role === 'assistant';
    const said = this.#said(isOwn ? event : { ...event, name: undefined }, emit);
    const id = this.#open(messageId);
    if (isOwn) {
      this.#texts.set(messageId, { id, meta: said.providerMetadata });
      emit({ type: 'text-start', id, ...said });
    } else this.#texts.set(messageId, { id, meta: undefined, interjection: { event, said, words: '' } });
    return true;
  }

  #textEnd(event: Fields, emit: Write): boolean {
    const messageId = String(event.messageId);
    const text = this.#texts.get(messageId);
    if (text === undefined) return false;
    this.#texts.delete(messageId);
    if (text.interjection) return this.#interjection(text.id, text.interjection, emit);
    const { citations } = slotOf(event);
    const meta = this.#laterMeta(event, text.meta);
    emit({ type: 'text-end', id: text.id, ...(Array.isArray(citations) && { citations }), ...meta });
    return true;
  }

  #interjection(id: string, { event, said, words }: NonNullable<Text['interjection']>, emit: Write): boolean {
    const { parts } = slotOf(event);
    const kept = Array.isArray(parts) ? (parts as unknown as MessagePart[]) : undefined;
    const name = nameOf(event.name);
    const role = event.role === 'user' ? 'user' : 'system';
    emit({
      type: 'interjection',
      id,
      role,
      ...defined({ name }),
      parts: kept ?? [{ type: 'text', text: words }],
      ...said,
    });
    return true;
  }

  #reasoningStart(event: Fields, emit: Write): boolean {
    const messageId = nameOf(event.messageId);
    if (messageId === undefined || this.#reasoning.has(messageId)) return false;
    const said = this.#said(event, emit);
    const id = this.#open(messageId);
    this.#reasoning.set(messageId, { id, meta: said.providerMetadata });
    emit({ type: 'reasoning-start', id, ...said });
    return true;
  }

  #reasoningEnd(event: Fields, emit: Write): boolean {
    const messageId = String(event.messageId);
    const part = this.#reasoning.get(messageId);
    if (part === undefined) return false;
    this.#reasoning.delete(messageId);
    emit({ type: 'reasoning-end', id: part.id, ...this.#laterMeta(event, part.meta) });
    return true;
  }

  #delta(kind: 'text' | 'reasoning', open: Map<string, Text>, event: Fields, emit: Write): boolean {
    const part = open.get(String(event.messageId));
    const delta = textOf(event.delta);
    if (part === undefined || delta === undefined) return false;
    if (part.interjection) part.interjection.words += delta;
    else if (delta !== '') emit({ type: `${kind}-delta`, id: part.id, delta });
    return true;
  }

  #encrypted(event: Fields, emit: Write): boolean {
    const wireId = String(event.entityId);
    const id = event.subtype === 'tool-call' ? this.#tools.idOf(wireId) : this.#parts.get(wireId);
    const value = nameOf(event.encryptedValue);
    if (value === undefined) return false;
    if (id === undefined) return event.subtype === 'message' && this.#tools.resultEncrypted(wireId, value);
    emit({ type: 'metadata', id, providerMetadata: metaOfEncryptedValue(value) });
    return true;
  }

  #stateDelta(event: Fields, emit: Write): boolean {
    // What some agents call it, after the field of the activities.
    const patch = event.delta ?? event.patch;
    if (!Array.isArray(patch)) return false;
    if (!this.#hasState) emit({ type: 'state-snapshot', state: {} });
    this.#hasState = true;
    emit({ type: 'state-delta', patch: this.#json(patch) as unknown as Op[] });
    return true;
  }

  #activity(event: Fields, emit: Write): boolean {
    const messageId = nameOf(event.messageId);
    if (messageId === undefined || !isFields(event.content)) return false;
    const known = this.#activities.get(messageId);
    if (known && event.replace === false) return true;
    const isValue = slotOf(event).isValue === true;
    const id = known?.id ?? this.#open(messageId);
    this.#activities.set(messageId, { id, isValue });
    const data = this.#json(isValue ? event.content.value : event.content);
    emit({ type: 'data', id, name: textOf(event.activityType) ?? 'activity', data, ...this.#said(event, emit) });
    return true;
  }

  #activityDelta(event: Fields, emit: Write): boolean {
    const activity = this.#activities.get(String(event.messageId));
    if (activity === undefined || !Array.isArray(event.patch)) return false;
    const patch = this.#json(event.patch) as unknown as Op[];
    emit({ type: 'data-delta', id: activity.id, patch: activity.isValue ? patch.map(outsideValue) : patch });
    return true;
  }

  #messages(event: Fields, emit: Write): boolean {
    if (!Array.isArray(event.messages)) return false;
    const isKnown = (id: string): boolean => this.#sent.has(id) || this.#parts.has(id);
    const hasCall = (id: string): boolean => this.#tools.has(id);
    const awaits = (id: string): boolean => this.#tools.awaits(id);
    for (const told of eventsOfMessages(event.messages, { isKnown, hasCall, awaits })) this.#decode(told, emit);
    this.#correct(event.messages.map(fieldsOf), emit);
    return true;
  }

  /** A snapshot has the last word on what was streamed, where nothing is being said. */
  #correct(messages: readonly Fields[], emit: Write): void {
    const content = this.#fold.message?.content;
    const corrected = content && correctContent(content, messages, this.#parts);
    if (corrected === undefined) return;
    if (this.#texts.size > 0 || this.#reasoning.size > 0 || this.#tools.isStreaming) {
      const why = 'It contradicts what was streamed while something is still being said; what was streamed stands.';
      return this.#onLoss({ kind: 'withheld', what: 'MESSAGES_SNAPSHOT', why });
    }
    emit({ type: 'message-snapshot', content: corrected });
  }

  #custom(event: Fields, emit: Write): boolean {
    const name = textOf(event.name);
    if (name === undefined) return false;
    const kept = slotOf(event);
    const id = nameOf(kept.id);
    const own = id === undefined ? ownEvent(name, event.value) : undefined;
    if (own) {
      if (own.type === 'question') this.#asked.add(own.questionId);
      if ('agentId' in own && own.agentId !== undefined) this.#agents.ensure(own.agentId, own.agentId, 'voice', emit);
      emit(own);
      return true;
    }
    const data = this.#json(event.value);
    const said = this.#said(event, emit);
    const named = { name: fromCustomName(name), ...(id === undefined && verbatimMeta(name, said.providerMetadata)) };
    emit({ type: 'data', id: id ?? this.#ids.next(), data, transient: true, ...said, ...named });
    return true;
  }

  #open(messageId: string): string {
    const id = this.#ids.open(messageId);
    this.#parts.set(messageId, id);
    return id;
  }

  #said(event: Fields, emit: Write): Said {
    const kept = slotOf(event);
    const agentId = this.#agents.agentOf(event.type === 'CUSTOM' ? { ...event, name: undefined } : event, emit);
    const to = Array.isArray(kept.to) ? kept.to.filter((name) => typeof name === 'string') : undefined;
    return {
      ...defined({ agentId, stepId: this.#agents.stepOf(event), to, providerMetadata: this.#meta(event) }),
      ...(kept.internal === true && { internal: true }),
    };
  }

  /** A provider's metadata that we have sent, and what else an agent has said there. */
  #meta(event: Fields): Meta | undefined {
    const { [slotKey]: kept, ...foreign } = fieldsOf(event.metadata);
    const { providerMetadata } = fieldsOf(kept);
    const meta: Meta = {
      ...(isFields(providerMetadata) && (this.#json(providerMetadata) as Meta)),
      ...(Object.keys(foreign).length > 0 && { 'ag-ui': { metadata: this.#json(foreign) } }),
    };
    return Object.keys(meta).length > 0 ? meta : undefined;
  }

  /** What an end says beyond what the start did. */
  #laterMeta(event: Fields, before: Meta | undefined): { providerMetadata?: Meta } {
    const meta = this.#meta(event);
    return meta === undefined || (before && equalJson(meta, before)) ? {} : { providerMetadata: meta };
  }

  #json(value: unknown): Json {
    return value === undefined ? null : toJson(value, this.#onLoss);
  }
}

/** A canonical event that our own encoder had no other event for. */
function ownEvent(name: string, value: unknown): AgentEvent | undefined {
  const type = Object.entries(customNames).find(([, own]) => own === name)?.[0];
  if (type === undefined || !isFields(value)) return undefined;
  const event = { ...value, type };
  return validateEvent(event) === undefined ? (event as unknown as AgentEvent) : undefined;
}

function outsideValue(op: Op): Op {
  const path = op.path.replace(/^\/value/, '');
  return 'from' in op ? { ...op, from: op.from.replace(/^\/value/, ''), path } : { ...op, path };
}
