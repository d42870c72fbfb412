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
  type MessageContent,
  type OnLoss,
} from '@intertie/core';
import { toInterruptedOutcome } from '@intertie/core/internal';
import { toOptionsKey, type AGUIEncoderOptions, type AGUIOpenState } from './ag-ui-encoder-options.ts';
import type { AGUIEvent } from '../shared/ag-ui-event.ts';
import { declaredVersion, getFeatures, type AGUIFeatures } from '../shared/ag-ui-version.ts';
import { encodeUnattached, encodeCustom } from './encode-custom.ts';
import { encodeInterjection } from './encode-interjection.ts';
import { MessageHistory } from './message-history.ts';
import { PartEncoders } from './part-encoders.ts';
import { encodeRunEnd } from './encode-run-end.ts';
import { StateEncoder } from './encode-state.ts';
import type { ToolEncoder } from './encode-tools.ts';
import type { TextPartEncoder } from './encode-text-parts.ts';
import { toEncryptedValue } from '../shared/encrypted-value.ts';
import { customNames, endedStepsKey, metadataKey } from '../shared/intertie-metadata.ts';
import { defined, asFields } from '../shared/read-fields.ts';
import { snapshotsFor } from './snapshot-order.ts';
import type { UnattachedPart } from './to-ag-ui-messages.ts';

/** Creates an encoder from canonical events to AG-UI events. Deterministic: the output depends on options and events only. */
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
  #parts: PartEncoders;
  #tools: ToolEncoder;
  #texts: TextPartEncoder;
  #state: StateEncoder;
  #messages: MessageHistory;
  #time: number | undefined;
  /** Events of the end of the run, which a client that joins later gets too. */
  #ending: AGUIEvent[] = [];
  /** Calls for the client by id, if they are announced. */
  #clientCalls = new Map<string, JsonObject>();
  #emit: Emit<AGUIEvent> = () => undefined;

  constructor(options: AGUIEncoderOptions) {
    this.#options = options;
    this.#features = getFeatures(options.protocolVersion);
    this.#onLoss = guardLoss(options.onLoss);
    this.#parts = new PartEncoders(options, this.#features, this.#onLoss);
    this.#tools = this.#parts.tools;
    this.#texts = this.#parts.texts;
    this.#state = new StateEncoder(this.#onLoss);
    this.#messages = new MessageHistory(options, this.#parts);
    this.optionsKey = toOptionsKey(options);
  }

  feed(event: AgentEvent, emit: Emit<AGUIEvent>): void {
    this.#emit = emit;
    if (event.at !== undefined) this.#time = Math.trunc(event.at);
    this.#messages.feed(event);
    switch (event.type) {
      case 'text-delta':
      case 'reasoning-delta':
        return this.#texts.delta(event, this.#write);
      case 'tool-input-delta':
        if (!this.#tools.delta(event, this.#write)) this.#parts.withheld.reportMissing(event.type, event.toolCallId);
        return;
      default:
        return this.#feed(event);
    }
  }

  /** Ends a run whose source ended without `run-end`, so that the client does not take it for complete. */
  end(end: End, emit: Emit<AGUIEvent>): void {
    if (this.#phase === 'ended') return;
    this.#emit = emit;
    try {
      this.#endEarly(end);
    } catch (error) {
      // `onLoss` threw. The client still gets a terminal event.
      this.#endEarly({ reason: 'error', error: toFault(error, 'codec') });
    }
  }

  /** Writes a snapshot of all messages and reopens open parts. Events fed later continue from there. */
  open(state: AGUIOpenState, emit: Emit<AGUIEvent>): void {
    const { events, known = [] } = state;
    this.#messages.startJoin(state);
    for (const event of events) this.feed(event, () => undefined);
    this.#emit = emit;
    if (this.#run === undefined) return;
    this.#writeRunStarted();
    this.#state.reopen(this.#write);
    const unattached = new Map(state.unattached?.map((part) => [part.id, part]));
    const onUnattached = (part: UnattachedPart): void => void unattached.set(part.id, part);
    const messages = this.#messages.toMessages({ activities: true, onUnattached });
    for (const snapshot of snapshotsFor(known, messages))
      this.#write({ type: 'MESSAGES_SNAPSHOT', messages: snapshot });
    for (const part of unattached.values()) {
      this.#write(encodeUnattached(part, this.#parts.agents.owner(part.part.agentId)));
    }
    if (this.#phase !== 'ended') this.#parts.reopen(this.#write);
    else for (const event of this.#ending) this.#write(event);
  }

  /** Mutates the event (timestamp, metadata), so it must be a fresh object. */
  #write: Write = (event) => {
    const ended = this.#parts.agents.takeEndedSteps();
    if (ended) {
      const extra = asFields(event.metadata?.[metadataKey]) as JsonObject;
      event.metadata = { ...event.metadata, [metadataKey]: { ...extra, [endedStepsKey]: ended } };
    }
    if (this.#options.timestamps && this.#time !== undefined) event.timestamp = this.#time;
    this.#emit(event);
  };

  #feed(event: AgentEvent): void {
    if (this.#phase === 'ended') {
      return this.#onLoss({ kind: 'late', what: event.type, why: 'It came after the end of the run.' });
    }
    if (event.type === 'run-start') return this.#runStart(event);
    if (event.type === 'message-snapshot') return this.#snapshot(event.content);
    this.#phase = 'running';
    this.#encode(event);
  }

  #encode(event: AgentEvent): void {
    const write = this.#write;
    switch (event.type) {
      case 'text-start':
      case 'reasoning-start':
        return this.#texts.start(event, this.#parts.form, write);
      case 'text-end':
      case 'reasoning-end':
        return this.#texts.end(event, write);
      case 'tool-input-start':
        if (this.#parts.withheld.admit(event, event.toolCallId)) {
          this.#parts.agents.enterPhase('executing', event.stepId, write);
          this.#tools.start(event, this.#parts.agents.owner(event.agentId), this.#parts.form, write);
        }
        return;
      case 'tool-input-end':
        return void this.#tools.inputEnd(event);
      case 'tool-call':
        this.#addClientCall(event);
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
        if (!this.#parts.activities.delta(event, write)) this.#parts.withheld.reportMissing(event.type, event.id);
        return;
      case 'metadata':
        if (event.id !== undefined) this.#partMetadata(event);
        else this.#custom('metadata', event);
        return;
      case 'agent-start':
        // An agent that resumes after a pause is a new sub-agent to AG-UI, so its calls need a new message.
        this.#parts.groups.startNewMessage(event);
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
      case 'checkpoint':
        return;
      default:
        return this.#onLoss({
          kind: 'unsupported',
          what: event.type,
          why: 'The encoder does not know this event type.',
        });
    }
  }

  #runStart({ runId, threadId, parentRunId }: EventOf<'run-start'>): void {
    if (this.#phase !== 'before') {
      return this.#onLoss({ kind: 'repaired', what: 'run-start', why: 'The run had already started.', id: runId });
    }
    this.#phase = 'baseline';
    this.#run = { threadId, runId, ...defined({ parentRunId }) };
    this.#writeRunStarted();
  }

  #writeRunStarted(): void {
    const { echo: input } = this.#options;
    this.#write({
      type: 'RUN_STARTED',
      ...this.#run!,
      protocolVersion: declaredVersion,
      ...(input && { input: input as RunAgentInput }),
    });
  }

  /** Registers the parts of a snapshot. Its messages are written unless it is the baseline, which the client has sent. */
  #snapshot(content: MessageContent): void {
    const isBaseline = this.#phase === 'baseline';
    this.#phase = 'running';
    for (const part of content.parts) this.#parts.register(part);
    if (isBaseline && this.#options.baseline !== 'restate') return;
    this.#writeMessages('message-snapshot');
  }

  #result(event: EventOf<'tool-result'>): void {
    const { toolCallId } = event;
    if (this.#parts.withheld.has(toolCallId)) return;
    const isPreliminary = event.status === 'ok' && event.preliminary;
    if (!isPreliminary && !this.#tools.isStreaming)
      this.#parts.agents.leaveExecuting(this.#tools.getStep(toolCallId), this.#write);
    if (!this.#tools.result(event, this.#write)) this.#parts.withheld.reportMissing(event.type, toolCallId);
  }

  #stepEnd(event: EventOf<'step-end'>): void {
    // The snapshot below removes the calls of a discarded step, so they are closed before it.
    if (event.discarded && this.#messages.isComplete) this.#tools.discard(event.stepId, this.#write);
    this.#parts.agents.stepEnd(event, this.#write);
    if (event.discarded) this.#writeMessages('step-end discarded');
  }

  #interjection(event: EventOf<'interjection'>): void {
    this.#parts.groups.startNewMessage(event);
    if (!this.#parts.withheld.admit(event, event.id)) return;
    encodeInterjection(event, this.#parts.agents.owner(event.agentId), this.#write);
  }

  #partMetadata({ id, providerMetadata }: PartMetadata): void {
    if (this.#parts.withheld.has(id) || this.#texts.mergeMetadata(id, providerMetadata)) return;
    if (toEncryptedValue(providerMetadata) === undefined) {
      return this.#write({ type: 'CUSTOM', name: customNames.metadata, value: { id, providerMetadata } });
    }
    if (this.#tools.has(id)) return this.#tools.metadata(id, providerMetadata, this.#write);
    this.#texts.metadata(id, providerMetadata, this.#write);
  }

  /** Withholds the data of an error notice: it may be a provider's response, which is for the server's log only. */
  #notice(event: EventOf<'notice'>): void {
    const { data, ...withoutData } = event;
    const isWithheld = event.level === 'error' && data !== undefined;
    if (isWithheld)
      this.#onLoss({ kind: 'withheld', what: 'notice data', why: 'Data of an error is not sent to clients.' });
    this.#custom('notice', isWithheld ? withoutData : event, this.#parts.agents.owner(event.agentId));
  }

  #custom(name: keyof typeof customNames, event: AgentEvent, owner?: string): void {
    this.#write(encodeCustom(name, event, owner));
  }

  #endEarly(end: End): void {
    const ended: EndEvent = { type: 'run-end', ...toInterruptedOutcome(end) };
    this.#messages.feed(ended);
    this.#runEnd(ended);
  }

  #runEnd(event: EndEvent): void {
    if (event.resume !== undefined) {
      this.#onLoss({ kind: 'withheld', what: 'run-end resume', why: "The runtime's resume token is not for clients." });
    }
    const unanswered = this.#parts.close(event, this.#write);
    if (this.#options.snapshot && this.#run) this.#writeMessages('snapshot');
    // Set after the last possible loss: if `onLoss` throws, `end` must still write a terminal event.
    this.#phase = 'ended';
    const interrupts = this.#parts.questions.interrupts(event);
    const result = this.#options.result === 'text' ? this.#textResult(event) : event.result;
    const { interrupts: form = 'outcome' } = this.#options;
    const context = { run: this.#run, features: this.#features, interrupts, form, unanswered, result };
    this.#ending = [...this.#announceClientCalls(event), ...encodeRunEnd(event, context)];
    for (const encoded of this.#ending) this.#write(encoded);
  }

  #addClientCall({ toolCallId, toolName, input, executor }: EventOf<'tool-call'>): void {
    if (this.#options.announceClientTools && executor === 'client')
      this.#clientCalls.set(toolCallId, { toolCallId, toolName, input });
  }

  #announceClientCalls(event: EndEvent): AGUIEvent[] {
    if (event.outcome !== 'paused') return [];
    return event.waitingFor.flatMap((waiting): AGUIEvent[] => {
      const value = waiting.type === 'tool' ? this.#clientCalls.get(waiting.toolCallId) : undefined;
      return value ? [{ type: 'CUSTOM', name: 'tool-input-available', value }] : [];
    });
  }

  #textResult({ finishReason = 'stop' }: EndEvent): Json {
    return { text: this.#texts.lastText, finishReason };
  }

  #writeMessages(what: string): void {
    if (this.#messages.isComplete) {
      return this.#write({ type: 'MESSAGES_SNAPSHOT', messages: this.#messages.toMessages({ activities: false }) });
    }
    const why = 'A snapshot deletes the messages that it omits, and the history before this run is unknown.';
    this.#onLoss({ kind: 'unsupported', what, why });
  }
}

/** Wraps `onLoss` so that it is not called again after it has thrown. Otherwise the run could not be ended. */
function guardLoss(onLoss: OnLoss = () => undefined): OnLoss {
  let hasThrown = false;
  return (loss) => {
    if (hasThrown) return;
    try {
      onLoss(loss);
    } catch (error) {
      hasThrown = true;
      throw error;
    }
  };
}
