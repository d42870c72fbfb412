import {
  applyPatch,
  mergeMeta,
  unfoldContent,
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
} from '@intertie/core';
import { encodeFile, encodeInterjection, encodeSource, partMeta } from './encode-ui-parts.ts';
import { carry, UITools } from './encode-ui-tools.ts';
import { slotKey, withSlot } from './intertie-slot.ts';
import { defined } from './read-fields.ts';
import { extensionId } from './ui-extension.ts';
import type { UIMessageChunk, UIMessageChunkOf, UIMessageVersion } from './ui-message-chunk.ts';
import { UISteps } from './ui-steps.ts';
import { validateUIMessageChunk } from './validate-ui-message-chunk.ts';

export interface UIMessageEncoderOptions<Version extends UIMessageVersion = UIMessageVersion> {
  /** The major of `ai` that reads the stream. 7 also reads what is written for 6. Default: 6. */
  version?: Version;
  /**
   * What a continuation does with the message that it continues: a client that has sent it knows it (`assume`, the
   * default); one that reconnects is told all of it again (`restate`).
   */
  baseline?: 'assume' | 'restate';
  /** Default: yes. */
  sendReasoning?: boolean;
  /** Default: yes. */
  sendSources?: boolean;
  /** What agents say to each other. Default: no. */
  includeInternal?: boolean;
  /** Whether `start` is written; no, where the stream is a part of another. Default: yes. */
  sendStart?: boolean;
  /** Whether `finish` is written. `abort` and `error` always are. Default: yes. */
  sendFinish?: boolean;
  /**
   * The tools that the page has types for: their parts are `tool-<name>`, all others `dynamic-tool`.
   * If absent, the call itself says what it is.
   */
  staticTools?: readonly string[];
  onLoss?: OnLoss;
}

/**
 * Encodes canonical events as the UI message stream of `ai` 6 or 7: what `useChat` reads. A pure function of the options and
 * the events. Nothing is lost without a line in the ledger, and what the stream has no chunk for travels as data (see
 * `ExtensionName`) and comes back.
 */
export function createUIMessageEncoder<Version extends UIMessageVersion = 6>(
  options: UIMessageEncoderOptions<Version> = {},
): Encoder<UIMessageChunkOf<Version>> {
  // The options say which chunks are written, which the type of a class cannot.
  return new UIMessageEncoder(options) as Encoder<UIMessageChunk> as Encoder<UIMessageChunkOf<Version>>;
}

type Write = Emit<UIMessageChunk>;
type Kind = 'text' | 'reasoning';
/** `isKept`: its part is in the client's message. */
type Agent = { data: JsonObject & { agentId: string }; parentAgentId?: string; isKept: boolean };
type Data = { name: string; value: Json; transient: boolean; stepId?: string; meta: Meta | undefined };

class UIMessageEncoder implements Encoder<UIMessageChunk> {
  readonly version = '1';
  readonly optionsKey: string;
  #options: Required<Omit<UIMessageEncoderOptions, 'staticTools'>>;
  #phase: 'before' | 'baseline' | 'running' | 'ended' = 'before';
  /** Open texts and reasoning, with their metadata: the client replaces what it has, so the whole is sent each time. */
  #open = new Map<string, { kind: Kind; meta: Meta | undefined }>();
  /** The parts that the client has been told of, and those that it is not told of. */
  #said = new Set<string>();
  #withheld = new Set<string>();
  #agents = new Map<string, Agent>();
  #data = new Map<string, Data>();
  #state: Json = {};
  #steps = new UISteps();
  #tools: UITools;
  /** Answered approvals of a restated message, which ai 6 would ask again. */
  #over = new Set<string>();

  constructor(options: UIMessageEncoderOptions) {
    const {
      version = 6,
      baseline = 'assume',
      sendReasoning = true,
      sendSources = true,
      includeInternal = false,
      sendStart = true,
      sendFinish = true,
      staticTools,
      onLoss = () => undefined,
    } = options;
    this.#options = { version, baseline, sendReasoning, sendSources, includeInternal, sendStart, sendFinish, onLoss };
    this.#tools = new UITools({ version, staticTools: staticTools && new Set(staticTools), onLoss }, this.#steps);
    const flags = [sendReasoning, sendSources, includeInternal, sendStart, sendFinish].map(Number).join('');
    const names = staticTools ? `-${[...new Set(staticTools)].toSorted().map(encodeURIComponent).join('+')}` : '';
    this.optionsKey = `${version}${baseline === 'assume' ? 'a' : 'r'}${flags}${names}`;
  }

  feed(event: AgentEvent, emit: Write): void {
    switch (event.type) {
      case 'text-delta':
      case 'reasoning-delta':
        return this.#delta(event, emit);
      case 'tool-input-delta':
        if (!this.#tools.inputDelta(event, emit)) this.#missing(event.type, event.toolCallId);
        return;
      default:
        return this.#feed(event, emit);
    }
  }

  /** The run was cut off before its own last word: the client must not take it for a complete one. */
  end(end: End, emit: Write): void {
    if (this.#phase === 'ended') return;
    if (this.#phase === 'before' && end.reason === 'eof') return;
    const truncated: Fault = { message: 'The stream ended before the run did.', code: 'truncated' };
    const ended: EventOf<'run-end'> =
      end.reason === 'aborted'
        ? { type: 'run-end', outcome: 'aborted', ...defined({ by: end.by, reason: end.message }) }
        : { type: 'run-end', outcome: 'error', error: end.reason === 'error' ? end.error : truncated };
    this.#runEnd(ended, emit);
  }

  #feed(event: AgentEvent, emit: Write): void {
    if (this.#phase === 'ended') {
      return this.#lose({ kind: 'late', what: event.type, why: 'It came after the run had ended.' });
    }
    if (event.type === 'run-start') return this.#runStart(event, emit);
    if (event.type === 'message-snapshot') return this.#snapshot(event.content, emit);
    this.#phase = 'running';
    this.#event(event, emit);
  }

  #event(event: AgentEvent, emit: Write): void {
    switch (event.type) {
      case 'text-delta':
      case 'reasoning-delta':
      case 'tool-input-delta':
        return this.feed(event, emit);
      case 'text-start':
      case 'reasoning-start':
        return this.#partStart(event, emit);
      case 'text-end':
      case 'reasoning-end':
        return this.#partEnd(event, emit);
      case 'tool-input-start':
        if (this.#admit(event, event.toolCallId, emit)) this.#tools.inputStart(event, emit);
        return;
      case 'tool-input-end':
        if (event.providerMetadata) this.#partMetadata(event.toolCallId, event.providerMetadata, emit);
        return;
      case 'tool-call':
        if (this.#tools.has(event.toolCallId) || this.#admit(event, event.toolCallId, emit)) {
          this.#tools.call(event, emit);
        }
        return;
      case 'tool-result':
        if (!this.#tools.result(event, emit)) this.#missing(event.type, event.toolCallId);
        return;
      case 'question':
        // About a call, it is a part of the call, and not what its agent is known by.
        if (!this.#tools.canAsk(event)) this.#speaks(event.agentId, emit);
        return this.#tools.question(event, this.#over.has(event.questionId), emit);
      case 'answer':
        // Questions are never withheld, and their ids may be those of parts that are.
        if (!this.#tools.answer(event, emit)) this.#unfitting(event.type, event.questionId);
        return;
      case 'file':
        if (event.reasoning && !this.#options.sendReasoning) return this.#withhold(event.type, event.id, 'reasoning');
        if (!this.#admit(event, event.id, emit)) return;
        this.#steps.enter(event.stepId, 'other', emit);
        return emit(encodeFile(event, this.#options.version));
      case 'source':
        if (!this.#options.sendSources) return this.#withhold(event.type, event.id, 'sources');
        if (!this.#admit(event, event.id, emit)) return;
        this.#steps.note(event.stepId);
        return emit(encodeSource(event, this.#options.onLoss));
      case 'interjection':
        if (!this.#admit(event, event.id, emit)) return;
        this.#steps.note(event.stepId);
        return emit(encodeInterjection(event, this.#options.version));
      case 'data':
        return this.#dataPart(event, emit);
      case 'data-delta':
        return this.#dataDelta(event, emit);
      case 'metadata':
        if (event.id !== undefined) return this.#partMetadata(event.id, event.providerMetadata, emit);
        return emit({ type: 'message-metadata', messageMetadata: event.metadata });
      case 'agent-start':
        return this.#agentStart(event, emit);
      case 'agent-end':
        return this.#agentEnd(event, emit);
      case 'step-start':
        return carry(event, emit);
      case 'step-end':
        return this.#stepEnd(event, emit);
      case 'state-snapshot':
        return this.#writeState(event.state, emit);
      case 'state-delta': {
        const patched = applyPatch(this.#state, event.patch);
        if (patched.ok) this.#writeState(patched.value, emit);
        else this.#lose({ kind: 'repaired', what: event.type, why: `It cannot be applied: ${patched.message}.` });
        return;
      }
      case 'notice': {
        const { type: _, at: __, origin: ___, ...data } = event;
        return emit({ type: 'data-notice', id: extensionId('notice'), data, transient: true });
      }
      case 'raw':
        return this.#lose({ kind: 'withheld', what: 'raw', why: 'What was not understood is not for the page.' });
      case 'run-end':
        return this.#runEnd(event, emit);
      case 'run-start':
      case 'message-snapshot':
        return;
      default:
        return this.#lose({
          kind: 'unsupported',
          what: (event as AgentEvent).type,
          why: 'This version does not know it.',
        });
    }
  }

  #runStart({ runId, messageId }: EventOf<'run-start'>, emit: Write): void {
    if (this.#phase !== 'before') {
      return this.#lose({ kind: 'repaired', what: 'run-start', why: 'The run had started already.', id: runId });
    }
    this.#phase = 'baseline';
    if (this.#options.sendStart) emit({ type: 'start', messageId, messageMetadata: { [slotKey]: { runId } } });
  }

  #runEnd(event: EventOf<'run-end'>, emit: Write): void {
    for (const [id, { kind }] of this.#open) emit({ type: `${kind}-end`, id });
    this.#open.clear();
    this.#tools.end(emit);
    this.#steps.close(emit);
    this.#phase = 'ended';
    const { resume, ...ended } = event;
    if (resume !== undefined) {
      this.#lose({ kind: 'withheld', what: 'run-end resume', why: "The runtime's own token is not for the page." });
    }
    const messageMetadata = { [slotKey]: { status: ended.outcome } };
    switch (ended.outcome) {
      case 'complete':
      case 'paused': {
        if (!this.#options.sendFinish) return;
        const finishReason = this.#finishReason(ended);
        if (hasMore(ended, finishReason)) carry(ended, emit);
        return emit({ type: 'finish', ...defined({ finishReason }), messageMetadata });
      }
      case 'aborted':
        if (hasMore(ended)) carry(ended, emit);
        emit({ type: 'message-metadata', messageMetadata });
        return emit({ type: 'abort', ...defined({ reason: ended.reason }) });
      case 'error':
        if (hasMore(ended)) carry(ended, emit);
        emit({ type: 'message-metadata', messageMetadata });
        return emit({ type: 'error', errorText: ended.error.message });
    }
  }

  #finishReason(event: EventOf<'run-end'>): UIFinishReason | undefined {
    if (event.finishReason === undefined && event.outcome === 'paused') {
      return event.waitingFor.some(({ type }) => type !== 'message') ? 'tool-calls' : undefined;
    }
    return event.finishReason === 'interrupted' && this.#options.version === 6 ? 'other' : event.finishReason;
  }

  /** The baseline, if it comes first; otherwise a correction, of which only what is new can be said. */
  #snapshot(content: MessageContent, emit: Write): void {
    const isBaseline = this.#phase === 'baseline';
    this.#phase = 'running';
    if (isBaseline && this.#options.baseline === 'assume') return this.#assume(content);
    if (isBaseline) return this.#restate(content, emit);
    const known = (part: MessagePart): boolean =>
      part.type === 'tool-invocation'
        ? this.#tools.has(part.toolCallId)
        : part.type === 'question'
          ? this.#tools.hasQuestion(part.questionId)
          : part.id === undefined || this.#said.has(part.id);
    const why = 'The client cannot take back what it has been told; only parts that are new to it were sent.';
    this.#lose({ kind: 'unsupported', what: 'message-snapshot', why });
    const { format, parts } = content;
    this.#restate({ format, parts: parts.filter((part) => !known(part)) }, emit);
  }

  #restate(content: MessageContent, emit: Write): void {
    if (this.#options.version === 6) {
      for (const part of content.parts) {
        if (part.type !== 'tool-invocation' || part.approval?.answer === undefined) continue;
        if (part.state === 'call' || part.state === 'partial-call') this.#over.add(part.approval.questionId);
      }
    }
    if (content.providerMetadata) {
      const why = 'A UI message has no metadata of providers; its parts have.';
      this.#lose({ kind: 'unsupported', what: 'providerMetadata of the message', why });
    }
    for (const event of unfoldContent(content)) this.#event(event, emit);
  }

  /** The client has sent the message: what may still be referred to is known, and nothing is said. */
  #assume({ parts, agents = {} }: MessageContent): void {
    for (const part of parts) {
      const id = part.type === 'tool-invocation' ? part.toolCallId : part.id;
      if (part.internal && !this.#options.includeInternal) {
        if (id !== undefined) this.#withheld.add(id);
        continue;
      }
      if (part.type === 'tool-invocation') this.#tools.learn(part);
      else if (part.type === 'question') this.#tools.learnQuestion(part);
      else if (part.type === 'data' && part.id !== undefined) {
        const { name = 'data', data: value, providerMetadata: meta } = part;
        this.#data.set(part.id, { name, value, transient: false, meta });
      }
      if (part.id !== undefined) this.#said.add(part.id);
    }
    for (const [agentId, entry] of Object.entries(agents)) {
      this.#agents.set(agentId, { ...agentOf(agentId, entry), isKept: false });
    }
    for (const { agentId, internal } of parts) {
      if (internal && !this.#options.includeInternal) continue;
      for (let agent = this.#agent(agentId); agent && !agent.isKept; agent = this.#agent(agent.parentAgentId)) {
        agent.isKept = true;
      }
    }
  }

  #partStart(event: EventOf<'text-start' | 'reasoning-start'>, emit: Write): void {
    const kind = event.type === 'text-start' ? 'text' : 'reasoning';
    if (kind === 'reasoning' && !this.#options.sendReasoning) return this.#withhold('reasoning', event.id, 'reasoning');
    if (!this.#admit(event, event.id, emit)) return;
    this.#steps.enter(event.stepId, 'words', emit);
    this.#steps.hold(event.id, event.stepId);
    const meta = partMeta(event);
    this.#open.set(event.id, { kind, meta });
    emit({ type: event.type, id: event.id, ...(meta && { providerMetadata: meta }) });
  }

  #delta({ type, id, delta, providerMetadata }: EventOf<'text-delta' | 'reasoning-delta'>, emit: Write): void {
    const part = this.#open.get(id);
    if (part === undefined) return this.#missing(type, id);
    if (providerMetadata === undefined) return emit({ type, id, delta });
    part.meta = mergeMeta(part.meta, providerMetadata);
    emit({ type, id, delta, providerMetadata: part.meta });
  }

  #partEnd(event: EventOf<'text-end' | 'reasoning-end'>, emit: Write): void {
    const { type, id, providerMetadata } = event;
    const part = this.#open.get(id);
    if (part === undefined) return this.#missing(type, id);
    this.#open.delete(id);
    this.#steps.release(id);
    const citations = event.type === 'text-end' ? event.citations : undefined;
    let meta = providerMetadata && mergeMeta(part.meta, providerMetadata);
    if (citations && this.#options.version === 7) {
      const chunk = { type, id, citations, ...(meta && { providerMetadata: meta }) } as UIMessageChunk;
      if (validateUIMessageChunk(chunk, 7) === undefined) return emit(chunk);
    }
    if (citations) meta = withSlot(meta ?? part.meta, { citations });
    emit({ type, id, ...(meta && { providerMetadata: meta }) });
  }

  /** A late word on a part. The client only takes it while the part is open. */
  #partMetadata(id: string, providerMetadata: Meta, emit: Write): void {
    if (this.#withheld.has(id)) return;
    const part = this.#open.get(id);
    if (part) {
      part.meta = mergeMeta(part.meta, providerMetadata);
      emit({ type: `${part.kind}-delta`, id, delta: '', providerMetadata: part.meta });
    } else if (!this.#tools.addMetadata(id, providerMetadata)) {
      const why = 'The part is complete, and the client takes no more metadata for it.';
      this.#lose({ kind: 'unsupported', what: 'metadata', why, id });
      carry({ type: 'metadata', id, providerMetadata }, emit);
    }
  }

  #dataPart(event: EventOf<'data'>, emit: Write): void {
    const { id, name, data: value, stepId, transient = false } = event;
    const before = this.#data.get(id);
    if (before === undefined) {
      if (!this.#admit(event, id, emit)) return;
      if (!transient) this.#steps.note(stepId);
      const meta = partMeta(event);
      this.#data.set(id, { name, value, transient, meta, ...(stepId !== undefined && { stepId }) });
    } else {
      before.value = value;
      before.meta = mergeMeta(before.meta, event.providerMetadata);
      if (name !== before.name) {
        const why = `The client replaces data by its name and id, so it stays "${before.name}".`;
        this.#lose({ kind: 'unsupported', what: 'data name', why, id });
      }
      if (event.providerMetadata && !before.transient) {
        const why = 'The client keeps the metadata that data had first.';
        this.#lose({ kind: 'unsupported', what: 'data metadata', why, id });
      }
    }
    this.#writeData(id, this.#data.get(id)!, emit);
  }

  #dataDelta({ type, id, patch }: EventOf<'data-delta'>, emit: Write): void {
    const data = this.#data.get(id);
    if (data === undefined) return this.#missing(type, id);
    const patched = applyPatch(data.value, patch);
    if (!patched.ok) {
      return this.#lose({ kind: 'repaired', what: type, why: `It cannot be applied: ${patched.message}.`, id });
    }
    data.value = patched.value;
    this.#writeData(id, data, emit);
  }

  #writeData(id: string, { name, value, transient, meta }: Data, emit: Write): void {
    if (this.#options.version === 7 && value === null && !transient && name.startsWith(providerPrefix)) {
      const kind = name.slice(providerPrefix.length) as `${string}.${string}`;
      return emit({ type: 'custom', kind, ...(meta && { providerMetadata: meta }) });
    }
    emit({
      type: `data-${name}`,
      id,
      data: value,
      ...(transient && { transient }),
      ...(meta && { providerMetadata: meta }),
    });
  }

  #writeState(state: Json, emit: Write): void {
    this.#state = state;
    emit({ type: 'data-state', id: extensionId('state'), data: state, transient: true });
  }

  #agentStart(event: EventOf<'agent-start'>, emit: Write): void {
    const { type: _, at: __, origin: ___, agentId, ...entry } = event;
    const agent: Agent = { ...agentOf(agentId, entry), isKept: this.#agents.get(agentId)?.isKept ?? false };
    this.#agents.set(agentId, agent);
    if (agent.isKept) this.#speaks(agent.parentAgentId, emit);
    this.#writeAgent(agent, emit);
  }

  #agentEnd(event: EventOf<'agent-end'>, emit: Write): void {
    const agent = this.#agents.get(event.agentId);
    if (agent === undefined) return this.#missing(event.type, event.agentId);
    const { outcome, result, usage } = event;
    const error = event.outcome === 'error' ? event.error : undefined;
    agent.data = { ...agent.data, outcome, ...defined({ error, result, usage }) };
    this.#writeAgent(agent, emit);
  }

  /** Before an agent has said anything, it is shown and not kept: a stored message would not know where to put it. */
  #writeAgent({ data, isKept }: Agent, emit: Write): void {
    emit({ type: 'data-agent', id: extensionId('agent', data.agentId), data, ...(!isKept && { transient: true }) });
  }

  /** An agent's first words, or its child's: from now on it is a part of the message. */
  #speaks(agentId: string | undefined, emit: Write): void {
    const agent = this.#agent(agentId);
    if (agent === undefined || agent.isKept) return;
    agent.isKept = true;
    this.#speaks(agent.parentAgentId, emit);
    this.#steps.note(undefined);
    this.#writeAgent(agent, emit);
  }

  #agent(agentId: string | undefined): Agent | undefined {
    return agentId === undefined ? undefined : this.#agents.get(agentId);
  }

  #stepEnd(event: EventOf<'step-end'>, emit: Write): void {
    const { stepId } = event;
    this.#steps.endOf(stepId);
    if (event.discarded) this.#tools.forget(stepId);
    if (event.discarded && this.#steps.hasPartsOf(stepId)) {
      if (this.#options.version === 7 && this.#steps.reset(stepId, emit)) {
        for (const [id, data] of this.#data) if (data.stepId === stepId) this.#data.delete(id);
      } else {
        const why = 'The client cannot take back the parts of this step, and shows them beside those of the next.';
        this.#lose({ kind: 'unsupported', what: 'discarded step', why, id: stepId });
      }
    }
    carry(event, emit);
  }

  /** Whether a part is for the page. If so, its agent is introduced first. */
  #admit(
    event: { type: string; agentId?: string; internal?: true; transient?: true },
    id: string,
    emit: Write,
  ): boolean {
    if (event.internal && !this.#options.includeInternal) {
      this.#withhold(event.type, id, 'what agents say to each other');
      return false;
    }
    this.#said.add(id);
    if (!event.transient) this.#speaks(event.agentId, emit);
    return true;
  }

  #withhold(what: string, id: string, policy: string): void {
    this.#withheld.add(id);
    this.#lose({ kind: 'withheld', what, why: `The options leave out ${policy}.`, id });
  }

  /** Of a part that was withheld, nothing more is said, and of one that is not there, nothing can be. */
  #missing(what: string, id: string): void {
    if (!this.#withheld.has(id)) this.#unfitting(what, id);
  }

  #unfitting(what: string, id: string): void {
    this.#lose({ kind: 'repaired', what, why: 'It refers to nothing that it fits, and was passed over.', id });
  }

  #lose(loss: Loss): void {
    this.#options.onLoss(loss);
  }
}

/** The prefix of data that only its provider understands. */
const providerPrefix = 'provider:';

type UIFinishReason = NonNullable<EventOf<'run-end'>['finishReason']>;

function agentOf(agentId: string, entry: JsonObject & { parentAgentId?: string }): Omit<Agent, 'isKept'> {
  const { parentAgentId } = entry;
  return { data: { agentId, ...entry }, ...(parentAgentId !== undefined && { parentAgentId }) };
}

/** Whether the end says more than its chunk does. */
function hasMore(event: EventOf<'run-end'>, finishReason?: UIFinishReason): boolean {
  const { type: _, at: __, origin: ___, outcome, finishReason: said, ...rest } = event;
  if (said !== finishReason) return true;
  switch (outcome) {
    case 'error': {
      const { error, ...more } = rest as { error: Fault };
      return Object.keys(more).length > 0 || Object.keys(error).length > 1;
    }
    case 'aborted': {
      const { reason: ____, ...more } = rest as { reason?: string };
      return Object.keys(more).length > 0;
    }
    default:
      return Object.keys(rest).length > 0;
  }
}
