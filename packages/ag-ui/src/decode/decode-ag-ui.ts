import {
  MessageList,
  type AgentEvent,
  type Codec,
  type Emit,
  type EventOf,
  type OnLoss,
  type RunInput,
} from '@intertie/core';
import { capJson, createPartIds } from '@intertie/core/internal';
import { correctContent } from './correct-content.ts';
import { AGUIAgentReader } from './decode-agents.ts';
import { AGUIDataReader } from './decode-data.ts';
import { lostEvents } from './report-unreadable.ts';
import { eventsOfMessages } from './decode-messages-snapshot.ts';
import { decodeRunEnd } from './decode-run-end.ts';
import { AGUISaidReader } from './decode-attribution.ts';
import { AGUIStateReader } from './decode-state.ts';
import { AGUIToolReader } from './decode-tools.ts';
import { AGUIWordReader } from './decode-text-parts.ts';
import { metaOfEncryptedValue } from '../shared/encrypted-value.ts';
import { metaOf } from '../shared/event-meta.ts';
import { expandChunks } from './expand-chunks.ts';
import { MessageIds } from '../shared/message-ids.ts';
import { defined, asFields, isFields, asNonEmptyText, asText, type Fields } from '../shared/read-fields.ts';

export interface AGUIDecoderOptions {
  /** The messages that the agent was sent, by their ids: it may tell them again, and they are no news. */
  sent?: Iterable<string>;
  /** Whether a result that is held a while says with which event it came, counted from 0. Default: no. */
  origins?: boolean;
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
      decoder.count += 1;
      if (isFields(value) && typeof value.type === 'string') {
        chunks.feed(value, (event) => decoder.feed(event, emit));
      } else decoder.lost(value, emit);
    },
    flush: (emit) => decoder.release(emit),
    end(end, emit) {
      chunks.end(end, (event) => decoder.feed(event, emit));
      decoder.release(emit);
    },
  };
}

type Write = Emit<AgentEvent>;

class AGUIDecoder {
  /** How many events have come. */
  count = 0;
  #origins: boolean;
  #run: RunInput;
  #onLoss: OnLoss;
  #messageIds: MessageIds;
  #agents: AGUIAgentReader;
  #reader: AGUISaidReader;
  #words: AGUIWordReader;
  #tools: AGUIToolReader;
  #data: AGUIDataReader;
  #state: AGUIStateReader;
  #sent: Set<string>;
  #hasEnded = false;
  /** What was streamed, for a snapshot that says otherwise. */
  #fold = new MessageList();
  /** A result, for what may be said of it next: afterwards nothing can be. */
  #held: EventOf<'tool-result'> | undefined;

  constructor(run: RunInput, { sent = [], origins = false, onLoss = () => undefined }: AGUIDecoderOptions) {
    this.#run = run;
    this.#origins = origins;
    this.#onLoss = onLoss;
    const ids = createPartIds(run);
    this.#messageIds = new MessageIds(ids);
    this.#agents = new AGUIAgentReader(run.runId);
    this.#reader = new AGUISaidReader(this.#agents, onLoss);
    this.#words = new AGUIWordReader(this.#messageIds, this.#reader);
    this.#tools = new AGUIToolReader(run, ids, onLoss);
    this.#data = new AGUIDataReader(this.#messageIds, this.#reader, this.#agents);
    this.#state = new AGUIStateReader(this.#reader, run.state !== undefined);
    this.#sent = new Set(sent);
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
      this.release(emit);
      if (timed.type === 'tool-result') this.#held = this.#origins ? { ...timed, origin: this.count - 1 } : timed;
      else this.#tell(timed, emit);
    };
    if (event.type === 'MESSAGES_SNAPSHOT') this.release(emit);
    const own = this.#agents.endSteps(event, write);
    if (this.#decode(own, write)) return;
    for (const out of lostEvents(own, 'The event is not valid at this point of the stream.', this.#onLoss)) write(out);
  }

  lost(value: unknown, emit: Write): void {
    this.release(emit);
    for (const out of lostEvents(value, 'Events are objects with a type.', this.#onLoss)) emit(out);
  }

  /** Tells what is held. */
  release(emit: Write): void {
    const held = this.#held;
    this.#held = undefined;
    if (held) this.#tell(held, emit);
  }

  #tell(event: AgentEvent, emit: Write): void {
    this.#fold.feed(event);
    emit(event);
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
        return this.#words.textStart(event, emit);
      case 'TEXT_MESSAGE_CONTENT':
        return this.#words.textDelta(event, emit);
      case 'TEXT_MESSAGE_END':
        return this.#words.textEnd(event, emit);
      case 'REASONING_START':
      case 'REASONING_END':
        // The span around a message says nothing that the message does not.
        return true;
      case 'REASONING_MESSAGE_START':
        return this.#words.reasoningStart(event, emit);
      case 'REASONING_MESSAGE_CONTENT':
        return this.#words.reasoningDelta(event, emit);
      case 'REASONING_MESSAGE_END':
        return this.#words.reasoningEnd(event, emit);
      case 'REASONING_ENCRYPTED_VALUE':
        return this.#encrypted(event, emit);
      case 'TOOL_CALL_START':
        return this.#tools.start(event, this.#reader.said(event, emit), emit);
      case 'TOOL_CALL_ARGS':
        return this.#tools.args(event, emit);
      case 'TOOL_CALL_END':
        return this.#tools.end(event, emit);
      case 'TOOL_CALL_RESULT':
        return this.#tools.result(event, emit);
      case 'STATE_SNAPSHOT':
        return this.#state.snapshot(event, emit);
      case 'STATE_DELTA':
        return this.#state.delta(event, emit);
      case 'ACTIVITY_SNAPSHOT':
        return this.#data.activity(event, emit);
      case 'ACTIVITY_DELTA':
        return this.#data.activityDelta(event, emit);
      case 'MESSAGES_SNAPSHOT':
        return this.#messages(event, emit);
      case 'CUSTOM':
        return this.#data.custom(event, emit);
      case 'RAW':
        return this.#raw(asText(event.source) ?? 'ag-ui', event.event, emit);
      default:
        return this.#raw('ag-ui', event, emit);
    }
  }

  #raw(dialect: string, value: unknown, emit: Write): boolean {
    emit({ type: 'raw', dialect, value: capJson(value, undefined, this.#onLoss) });
    return true;
  }

  /** The ids are ours; what the agent calls itself is metadata, where it differs. */
  #runStarted(event: Fields, emit: Write): boolean {
    const { messages } = asFields(event.input);
    for (const message of Array.isArray(messages) ? messages : []) this.#sent.add(String(asFields(message).id));
    const { runId, threadId } = this.#run;
    const isNamedSo = event.runId === runId && event.threadId === threadId;
    const remote = isNamedSo
      ? {}
      : defined({ runId: asNonEmptyText(event.runId), threadId: asNonEmptyText(event.threadId) });
    const own = metaOf(event)?.['ag-ui'];
    if (own || Object.keys(remote).length > 0) emit({ type: 'metadata', metadata: { 'ag-ui': { ...remote, ...own } } });
    return true;
  }

  #runEnd(event: Fields, emit: Write): boolean {
    const idOf = (wireId: string): string => this.#tools.idOf(wireId) ?? wireId;
    const { questions, end } = decodeRunEnd(event, this.#tools.pending(), idOf);
    for (const question of questions)
      if (!this.#data.asked.has(question.questionId)) emit({ type: 'question', ...question });
    this.#hasEnded = true;
    emit(end);
    return true;
  }

  #encrypted(event: Fields, emit: Write): boolean {
    const wireId = String(event.entityId);
    const id = event.subtype === 'tool-call' ? this.#tools.idOf(wireId) : this.#messageIds.parts.get(wireId);
    const value = asNonEmptyText(event.encryptedValue);
    if (value === undefined) return false;
    if (id === undefined) return event.subtype === 'message' && this.#tools.resultEncrypted(wireId, value, this.#held);
    emit({ type: 'metadata', id, providerMetadata: metaOfEncryptedValue(value) });
    return true;
  }

  #messages(event: Fields, emit: Write): boolean {
    if (!Array.isArray(event.messages)) return false;
    const tools = this.#tools;
    const isKnown = (id: string): boolean => this.#sent.has(id) || this.#messageIds.parts.has(id);
    const known = { isKnown, hasCall: (id: string) => tools.has(id), awaits: (id: string) => tools.awaits(id) };
    for (const told of eventsOfMessages(event.messages, known)) this.#decode(told, emit);
    this.#correct(event.messages.map(asFields), emit);
    return true;
  }

  /** A snapshot has the last word on what was streamed, where nothing is being said. */
  #correct(messages: readonly Fields[], emit: Write): void {
    const content = this.#fold.message?.content;
    const corrected = content && correctContent(content, messages, this.#messageIds.parts);
    if (corrected === undefined) return;
    if (this.#words.isStreaming || this.#tools.isStreaming) {
      const why = 'It contradicts what was streamed while something is still being said; what was streamed stands.';
      return this.#onLoss({ kind: 'withheld', what: 'MESSAGES_SNAPSHOT', why });
    }
    emit({ type: 'message-snapshot', content: corrected });
  }
}
