import {
  MessageList,
  type AgentEvent,
  type Codec,
  type Emit,
  type EventOf,
  type OnLoss,
  type Question,
  type RunInput,
  createPartIds,
} from '@intertie/core';
import { capJson } from '@intertie/core/internal';
import { correctContent } from './correct-content.ts';
import { AgentDecoder } from './decode-agents.ts';
import { DataDecoder } from './decode-data.ts';
import { AgentMessageList } from './agent-message-list.ts';
import { decodeCustomInterrupt, decodeOutcomeInterrupts, interruptEventName } from './decode-interrupts.ts';
import { selectAnswer, toMissingEvents } from './decode-messages-snapshot.ts';
import { decodeRunEnd } from './decode-run-end.ts';
import { AttributionDecoder } from './decode-attribution.ts';
import { StateDecoder } from './decode-state.ts';
import { ToolDecoder } from './decode-tools.ts';
import { TextPartDecoder } from './decode-text-parts.ts';
import { readCallIds, toContinuedLayout, toLayoutMetadata } from '../messages/agent-messages.ts';
import { fromEncryptedValue } from '../shared/encrypted-value.ts';
import { readMeta } from '../shared/event-meta.ts';
import { expandChunks } from './expand-chunks.ts';
import { MessageIds } from '../shared/message-ids.ts';
import { metadataKey } from '../shared/intertie-metadata.ts';
import { defined, asFields, isFields, asNonEmptyText, asText, type Fields } from '../shared/read-fields.ts';

export interface AGUIDecoderOptions {
  /** Ids of the messages that the agent was sent. If it repeats them, they are ignored. */
  sent?: Iterable<string>;
  /** Whether a held tool result carries the index of the event that it came with, as `origin`. Default: false. */
  origins?: boolean;
  onLoss?: OnLoss;
}

/**
 * Creates a decoder for the events of an AG-UI agent, 0.0.45 to 1.0: triads and chunks, reasoning (formerly thinking),
 * sub-agents, snapshots and patches. Accepts any input and never throws; unknown events become `raw`. Restores what our encoder
 * put into the metadata. Put `seal` behind it.
 */
export function createAGUIDecoder(run: RunInput, options: AGUIDecoderOptions = {}): Codec<unknown, AgentEvent> {
  const chunks = expandChunks();
  const decoder = new AGUIDecoder(run, options);
  return {
    feed(value, emit) {
      decoder.count += 1;
      if (isFields(value) && typeof value.type === 'string') {
        chunks.feed(value, (event) => decoder.feed(event, emit));
      } else decoder.feedInvalid(value, emit);
    },
    flush: (emit) => decoder.release(emit),
    end(end, emit) {
      chunks.end(end, (event) => decoder.feed(event, emit));
      decoder.end(emit);
    },
  };
}

type Write = Emit<AgentEvent>;

class AGUIDecoder {
  /** Number of events received. */
  count = 0;
  #origins: boolean;
  #run: RunInput;
  #onLoss: OnLoss;
  #messageIds: MessageIds;
  #agents: AgentDecoder;
  #attribution: AttributionDecoder;
  #texts: TextPartDecoder;
  #tools: ToolDecoder;
  #data: DataDecoder;
  #state: StateDecoder;
  #sent: Set<string>;
  /** Messages of the answer that the run continues. */
  #baseline: Set<string>;
  /** Calls of earlier answers, collected on the first use. */
  #historyCalls: Set<string> | undefined;
  #messages: AgentMessageList;
  /** Interrupts that LangGraph or Mastra announced, which count if the run finishes without others. */
  #interrupts: Fields[] = [];
  /** Whether the agent uses our metadata, so that its history needs no record. */
  #isIntertie = false;
  #hasEnded = false;
  /** Message of the run so far, to compare snapshots with. */
  #fold = new MessageList();
  /** Last tool result, held because the next event may add metadata to it, and no event can do so later. */
  #held: EventOf<'tool-result'> | undefined;

  constructor(run: RunInput, { sent = [], origins = false, onLoss = () => undefined }: AGUIDecoderOptions) {
    this.#run = run;
    this.#origins = origins;
    this.#onLoss = onLoss;
    const ids = createPartIds(run);
    this.#messageIds = new MessageIds(ids);
    const baseline = toContinuedLayout(run);
    this.#baseline = new Set(baseline.map(({ id }) => id));
    const messages = new AgentMessageList(baseline);
    this.#messages = messages;
    this.#agents = new AgentDecoder(run.runId);
    this.#attribution = new AttributionDecoder(this.#agents, onLoss);
    this.#texts = new TextPartDecoder(this.#messageIds, messages, this.#attribution);
    this.#tools = new ToolDecoder(run, { ids, messages, onLoss });
    this.#data = new DataDecoder(this.#messageIds, this.#attribution, this.#agents);
    this.#state = new StateDecoder(this.#attribution, run.state !== undefined);
    this.#sent = new Set(sent);
    const { runId, threadId, messageId, message } = run;
    this.#fold.feed({ type: 'run-start', runId, threadId, messageId });
    if (message) this.#fold.feed({ type: 'message-snapshot', content: message });
  }

  feed(event: Fields, emit: Write): void {
    if (this.#hasEnded) {
      return this.#onLoss({ kind: 'late', what: String(event.type), why: 'It came after the end of the run.' });
    }
    this.#isIntertie ||= event.metadata !== undefined && isFields(asFields(event.metadata)[metadataKey]);
    const at = typeof event.timestamp === 'number' && Number.isFinite(event.timestamp) ? event.timestamp : undefined;
    const write: Write = (out) => {
      const timed = at === undefined || out.type.endsWith('-delta') ? out : { ...out, at };
      this.release(emit);
      if (timed.type === 'tool-result') this.#held = this.#origins ? { ...timed, origin: this.count - 1 } : timed;
      else this.#forward(timed, emit);
    };
    if (event.type === 'MESSAGES_SNAPSHOT') this.release(emit);
    const rest = this.#agents.endSteps(event, write);
    if (!this.#decode(rest, write)) {
      this.#reportUnreadable(rest, 'The event is not valid at this point of the stream.', write);
    }
  }

  feedInvalid(value: unknown, emit: Write): void {
    this.release(emit);
    this.#reportUnreadable(value, 'Events are objects with a type.', emit);
  }

  /** Emits the held result. */
  release(emit: Write): void {
    const held = this.#held;
    this.#held = undefined;
    if (held) this.#forward(held, emit);
  }

  /** Emits what is still held at the end of the stream. */
  end(emit: Write): void {
    this.release(emit);
    if (!this.#hasEnded) this.#leave(emit);
  }

  /** Emits interrupts that do not pause the run as data, and records the agent's messages. */
  #leave(emit: Write): void {
    for (const interrupt of this.#interrupts.splice(0)) this.#data.custom(interrupt, emit);
    const recorded = this.#isIntertie ? undefined : this.#messages.recorded;
    if (recorded) emit({ type: 'metadata', metadata: toLayoutMetadata(recorded) });
  }

  #forward(event: AgentEvent, emit: Write): void {
    this.#fold.feed(event);
    emit(event);
  }

  /** Preserves an event that could not be decoded as `raw`, with a notice. */
  #reportUnreadable(value: unknown, why: string, emit: Write): void {
    const message = `${asText(asFields(value).type) ?? 'A value'} in the agent’s stream was ignored. ${why}`;
    emit({ type: 'raw', dialect: 'ag-ui', value: capJson(value, undefined, this.#onLoss) });
    emit({ type: 'notice', level: 'warning', message, code: 'malformed' });
  }

  /** Returns whether the event could be decoded. */
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
        return this.#texts.textStart(event, emit);
      case 'TEXT_MESSAGE_CONTENT':
        return this.#texts.textDelta(event, emit);
      case 'TEXT_MESSAGE_END':
        return this.#texts.textEnd(event, emit);
      case 'REASONING_START':
      case 'REASONING_END':
        // The span around a reasoning message adds no information.
        return true;
      case 'REASONING_MESSAGE_START':
        return this.#texts.reasoningStart(event, emit);
      case 'REASONING_MESSAGE_CONTENT':
        return this.#texts.reasoningDelta(event, emit);
      case 'REASONING_MESSAGE_END':
        return this.#texts.reasoningEnd(event, emit);
      case 'REASONING_ENCRYPTED_VALUE':
        return this.#encrypted(event, emit);
      case 'TOOL_CALL_START':
        return this.#tools.start(event, this.#attribution.read(event, emit), emit);
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
        return this.#snapshot(event, emit);
      case 'CUSTOM':
        if (event.name === interruptEventName) return this.#interrupts.push(event) > 0;
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

  /** Keeps our ids. Different ids of the agent become metadata. */
  #runStarted(event: Fields, emit: Write): boolean {
    const { messages } = asFields(event.input);
    for (const message of Array.isArray(messages) ? messages : []) this.#sent.add(String(asFields(message).id));
    const { runId, threadId } = this.#run;
    const hasSameIds = event.runId === runId && event.threadId === threadId;
    const remote = hasSameIds
      ? {}
      : defined({ runId: asNonEmptyText(event.runId), threadId: asNonEmptyText(event.threadId) });
    const foreign = readMeta(event)?.['ag-ui'];
    if (foreign || Object.keys(remote).length > 0)
      emit({ type: 'metadata', metadata: { 'ag-ui': { ...remote, ...foreign } } });
    return true;
  }

  #runEnd(event: Fields, emit: Write): boolean {
    const questions = event.type === 'RUN_FINISHED' ? this.#readInterrupts(event) : [];
    const asked = this.#data.asked;
    for (const question of questions) if (!asked.has(question.questionId)) emit({ type: 'question', ...question });
    this.#leave(emit);
    this.#hasEnded = true;
    emit(decodeRunEnd(event, this.#tools.pending(), questions));
    return true;
  }

  /** Returns the interrupts of the outcome, else those that were announced before. */
  #readInterrupts(event: Fields): Question[] {
    const findCall = (wireId: string): string | undefined => this.#tools.findId(wireId);
    const questions = decodeOutcomeInterrupts(event, findCall);
    const announced = this.#interrupts.splice(0);
    if (questions.length > 0) return questions;
    return announced.map((custom) => decodeCustomInterrupt(custom, findCall, () => this.#messageIds.next()));
  }

  #encrypted(event: Fields, emit: Write): boolean {
    const wireId = String(event.entityId);
    const id = event.subtype === 'tool-call' ? this.#tools.findId(wireId) : this.#messageIds.parts.get(wireId);
    const value = asNonEmptyText(event.encryptedValue);
    if (value === undefined) return false;
    if (id === undefined)
      return event.subtype === 'message' && this.#tools.addEncryptedToResult(wireId, value, this.#held);
    emit({ type: 'metadata', id, providerMetadata: fromEncryptedValue(value) });
    return true;
  }

  /** Applies a snapshot of the thread to the answer: adds missing messages, and replaces the others. */
  #snapshot(event: Fields, emit: Write): boolean {
    if (!Array.isArray(event.messages)) return false;
    const tools = this.#tools;
    const isHistory = (id: string): boolean => this.#sent.has(id) && !this.#baseline.has(id);
    const messages = event.messages.map(asFields);
    const answer = selectAnswer(messages, isHistory);
    this.#reportEarlier(messages.slice(0, messages.length - answer.length));
    const decoded = {
      parts: this.#messageIds.parts,
      toCallId: (wireId: string): string => tools.findId(wireId) ?? wireId,
    };
    const renamed = this.#messages.findRenamed(answer, { ...decoded, content: this.#fold.message?.content });
    const known = {
      isSent: (id: string) => this.#sent.has(id),
      isKnown: (id: string) => this.#sent.has(id) || this.#messageIds.parts.has(id) || renamed.has(id),
      hasCall: (id: string) => tools.has(id) || this.#isHistoryCall(id),
      isAwaitingResult: (id: string) => tools.isAwaitingResult(id),
    };
    for (const missing of toMissingEvents(answer, known)) this.#decode(missing, emit);
    this.release(emit);
    this.#messages.replace(answer, renamed, { ...decoded, content: this.#fold.message?.content });
    this.#correct(answer, renamed, emit);
    return true;
  }

  /** Reports answers before the user's last message that the thread lacks: stored messages do not change. */
  #reportEarlier(messages: readonly Fields[]): void {
    const unknown = messages.find(
      ({ id, role, content, toolCalls }) =>
        role === 'assistant' &&
        !this.#sent.has(String(id)) &&
        (asNonEmptyText(content) !== undefined || Array.isArray(toolCalls)),
    );
    if (unknown === undefined) return;
    const why = 'It contains earlier answers under unknown ids. Only the current answer is replaced.';
    this.#onLoss({ kind: 'withheld', what: 'MESSAGES_SNAPSHOT', why, id: String(unknown.id) });
  }

  #isHistoryCall(wireId: string): boolean {
    this.#historyCalls ??= new Set(this.#run.history.flatMap(({ content }) => readCallIds(content)));
    return this.#historyCalls.has(wireId);
  }

  /** Replaces streamed content that differs from a snapshot, unless a part is still open. */
  #correct(messages: readonly Fields[], renamed: ReadonlyMap<string, string[]>, emit: Write): void {
    const content = this.#fold.message?.content;
    const corrected = content && correctContent(content, messages, this.#messageIds.parts, renamed);
    if (corrected === undefined) return;
    if (this.#texts.isStreaming || this.#tools.isStreaming) {
      const why = 'It contradicts the streamed content while a part is still open. The streamed content is kept.';
      return this.#onLoss({ kind: 'withheld', what: 'MESSAGES_SNAPSHOT', why });
    }
    emit({ type: 'message-snapshot', content: corrected });
  }
}
