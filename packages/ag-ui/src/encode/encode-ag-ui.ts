import type { RunAgentInput } from '@ag-ui/core';
import {
  toFault,
  type AgentEvent,
  type Emit,
  type Encoder,
  type End,
  type EventOf,
  type Json,
  type JsonObject,
  type Loss,
  type MessageContent,
  type OnLoss,
} from '@intertie/core';
import { toInterruptedOutcome } from '@intertie/core/internal';
import { optionsKeyOf, type AGUIEncoderOptions, type AGUIOpenState } from './ag-ui-encoder-options.ts';
import type { AGUIEvent } from '../shared/ag-ui-event.ts';
import { declaredVersion, featuresOf, type AGUIFeatures } from '../shared/ag-ui-version.ts';
import { encodeBeside, encodeCustom } from './encode-custom.ts';
import { encodeInterjection } from './encode-interjection.ts';
import { AGUIMessages } from './encode-messages.ts';
import { AGUIParts } from './encode-parts.ts';
import { encodeRunEnd } from './encode-run-end.ts';
import { AGUIState } from './encode-state.ts';
import type { AGUITools } from './encode-tools.ts';
import type { AGUIWords } from './encode-text-parts.ts';
import { encryptedValueOf } from '../shared/encrypted-value.ts';
import { guardLoss } from '../shared/guard-loss.ts';
import { customNames, endedStepsKey, slotKey } from '../shared/intertie-metadata.ts';
import { defined, asFields } from '../shared/read-fields.ts';
import { snapshotsFor } from './snapshot-order.ts';

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
  #parts: AGUIParts;
  #tools: AGUITools;
  #words: AGUIWords;
  #state: AGUIState;
  #messages: AGUIMessages;
  #time: number | undefined;
  #emit: Emit<AGUIEvent> = () => undefined;

  constructor(options: AGUIEncoderOptions) {
    this.#options = options;
    this.#features = featuresOf(options.protocolVersion);
    this.#onLoss = guardLoss(options.onLoss);
    this.#parts = new AGUIParts(options, this.#features, this.#onLoss);
    this.#tools = this.#parts.tools;
    this.#words = this.#parts.words;
    this.#state = new AGUIState(this.#onLoss);
    this.#messages = new AGUIMessages(options, this.#parts);
    this.optionsKey = optionsKeyOf(options);
  }

  feed(event: AgentEvent, emit: Emit<AGUIEvent>): void {
    this.#emit = emit;
    if (event.at !== undefined) this.#time = Math.trunc(event.at);
    this.#messages.feed(event);
    switch (event.type) {
      case 'text-delta':
      case 'reasoning-delta':
        return this.#words.delta(event, this.#write);
      case 'tool-input-delta':
        if (!this.#tools.delta(event, this.#write)) this.#parts.withheld.missing(event.type, event.toolCallId);
        return;
      default:
        return this.#feed(event);
    }
  }

  /** The run was cut off before its own last word: the client must not take it for a complete one. */
  end(end: End, emit: Emit<AGUIEvent>): void {
    if (this.#phase === 'ended') return;
    this.#emit = emit;
    try {
      this.#cut(end);
    } catch (error) {
      // The ledger's: the client is told that the run is over all the same.
      this.#cut({ reason: 'error', error: toFault(error, 'codec') });
    }
  }

  /** A snapshot of all that was said, and what is open opened again; what is fed next goes on from there. */
  open(state: AGUIOpenState, emit: Emit<AGUIEvent>): void {
    const { events, known = [] } = state;
    this.#messages.join(state);
    let last: AGUIEvent | undefined;
    for (const event of events) this.feed(event, (written) => void (last = written));
    this.#emit = emit;
    if (this.#run === undefined) return;
    this.#runStarted();
    this.#state.reopen(this.#write);
    const beside = new Map(state.beside?.map((one) => [one.id, one]));
    const told = this.#messages.told({ activities: true, onBeside: (one) => void beside.set(one.id, one) });
    for (const messages of snapshotsFor(known, told)) this.#write({ type: 'MESSAGES_SNAPSHOT', messages });
    for (const one of beside.values()) this.#write(encodeBeside(one, this.#parts.agents.owner(one.part.agentId)));
    if (this.#phase !== 'ended') this.#parts.reopen(this.#write);
    else if (last) this.#write(last);
  }

  /** Takes fresh objects only, since it writes the time and the metadata into them. */
  #write: Write = (event) => {
    const ended = this.#parts.agents.takeEndedSteps();
    if (ended) {
      const kept = asFields(event.metadata?.[slotKey]) as JsonObject;
      event.metadata = { ...event.metadata, [slotKey]: { ...kept, [endedStepsKey]: ended } };
    }
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
        return this.#words.start(event, this.#parts.form, write);
      case 'text-end':
      case 'reasoning-end':
        return this.#words.end(event, write);
      case 'tool-input-start':
        if (this.#parts.withheld.admit(event, event.toolCallId)) {
          this.#parts.agents.enterPhase('executing', event.stepId, write);
          this.#tools.start(event, this.#parts.agents.owner(event.agentId), this.#parts.form, write);
        }
        return;
      case 'tool-input-end':
        return void this.#tools.inputEnd(event);
      case 'tool-call':
        if (this.#tools.has(event.toolCallId) || this.#parts.withheld.admit(event, event.toolCallId)) {
          if (!this.#tools.has(event.toolCallId)) this.#parts.agents.enterPhase('executing', event.stepId, write);
          this.#tools.call(event, this.#parts.agents.owner(event.agentId), this.#parts.form, write);
        }
        return;
      case 'tool-result':
        return this.#result(event);
      case 'question':
        this.#parts.questions.ask(event);
        return this.#custom('question', event, this.#parts.agents.owner(event.agentId));
      case 'answer':
        this.#parts.questions.answer(event);
        return this.#custom('answer', event);
      case 'interjection':
        return this.#interjection(event);
      case 'file':
      case 'source':
        if (this.#parts.withheld.admit(event, event.id))
          this.#custom(event.type, event, this.#parts.agents.owner(event.agentId));
        return;
      case 'data': {
        if (!this.#parts.withheld.admit(event, event.id)) return;
        return this.#parts.activities.data(event, this.#parts.agents.owner(event.agentId), write);
      }
      case 'data-delta':
        if (!this.#parts.activities.delta(event, write)) this.#parts.withheld.missing(event.type, event.id);
        return;
      case 'metadata':
        if (event.id !== undefined) this.#partMetadata(event);
        else this.#custom('metadata', event);
        return;
      case 'agent-start':
        // One that goes on after a pause is another sub-agent, and its calls are not in the old one's message.
        this.#parts.groups.interrupt(event);
        return this.#parts.agents.start(event, write);
      case 'agent-end':
        return this.#parts.agents.end(event, write);
      case 'step-start':
        return this.#parts.agents.stepStart(event, write);
      case 'step-end':
        return this.#stepEnd(event);
      case 'state-snapshot':
        return this.#state.snapshot(event, write);
      case 'state-delta':
        return this.#state.delta(event, write);
      case 'notice':
        return this.#notice(event);
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
    for (const part of content.parts) this.#parts.learn(part);
    if (isBaseline && this.#options.baseline !== 'restate') return;
    this.#writeMessages('message-snapshot');
  }

  #result(event: EventOf<'tool-result'>): void {
    const { toolCallId } = event;
    if (this.#parts.withheld.has(toolCallId)) return;
    const isPreliminary = event.status === 'ok' && event.preliminary;
    if (!isPreliminary && !this.#tools.isStreaming)
      this.#parts.agents.leaveExecuting(this.#tools.stepOf(toolCallId), this.#write);
    if (!this.#tools.result(event, this.#write)) this.#parts.withheld.missing(event.type, toolCallId);
  }

  #stepEnd(event: EventOf<'step-end'>): void {
    // The snapshot below removes the calls of a discarded step, so they are closed before it.
    if (event.discarded && this.#messages.isWhole) this.#tools.discard(event.stepId, this.#write);
    this.#parts.agents.stepEnd(event, this.#write);
    if (event.discarded) this.#writeMessages('step-end discarded');
  }

  #interjection(event: EventOf<'interjection'>): void {
    this.#parts.groups.interrupt(event);
    if (!this.#parts.withheld.admit(event, event.id)) return;
    encodeInterjection(event, this.#parts.agents.owner(event.agentId), this.#write);
  }

  #partMetadata({ id, providerMetadata }: PartMetadata): void {
    if (this.#parts.withheld.has(id) || this.#words.amend(id, providerMetadata)) return;
    if (encryptedValueOf(providerMetadata) === undefined) {
      return this.#write({ type: 'CUSTOM', name: customNames.metadata, value: { id, providerMetadata } });
    }
    if (this.#tools.has(id)) return this.#tools.metadata(id, providerMetadata, this.#write);
    this.#words.metadata(id, providerMetadata, this.#write);
  }

  /** What is beside the message of an error may be a provider's response: that is for the server's log. */
  #notice(event: EventOf<'notice'>): void {
    const { data, ...said } = event;
    const isKept = event.level === 'error' && data !== undefined;
    if (isKept)
      this.#lose({ kind: 'withheld', what: 'notice data', why: 'What is beside an error’s message stays here.' });
    this.#custom('notice', isKept ? said : event, this.#parts.agents.owner(event.agentId));
  }

  #custom(name: keyof typeof customNames, event: AgentEvent, owner?: string): void {
    this.#write(encodeCustom(name, event, owner));
  }

  #cut(end: End): void {
    const ended: EndEvent = { type: 'run-end', ...toInterruptedOutcome(end) };
    this.#messages.feed(ended);
    this.#runEnd(ended);
  }

  #runEnd(event: EndEvent): void {
    if (event.resume !== undefined) {
      this.#lose({ kind: 'withheld', what: 'run-end resume', why: "The runtime's own token is not for the client." });
    }
    const left = this.#parts.close(event, this.#write);
    if (this.#options.snapshot && this.#run) this.#writeMessages('snapshot');
    // Not before nothing can be lost any more: what throws has to be ended too.
    this.#phase = 'ended';
    const interrupts = this.#parts.questions.interrupts(event);
    const result = this.#options.result === 'text' ? this.#textResult(event) : event.result;
    this.#write(encodeRunEnd(event, { run: this.#run, features: this.#features, interrupts, left, result }));
  }

  #textResult({ finishReason = 'stop' }: EndEvent): Json {
    return { text: this.#words.lastText, finishReason };
  }

  #writeMessages(what: string): void {
    if (this.#messages.isWhole) {
      return this.#write({ type: 'MESSAGES_SNAPSHOT', messages: this.#messages.told({ activities: false }) });
    }
    const why = 'A snapshot deletes what it leaves out, and the history before this run is not known here.';
    this.#lose({ kind: 'unsupported', what, why });
  }

  #lose(loss: Loss): void {
    this.#onLoss(loss);
  }
}
