import type { AgentEvent, Emit, Encoder, End, EventOf, Loss, MessageContent, MessagePart, Meta } from '@intertie/core';
import { isSettled, toInterruptedOutcome, unfoldContent } from '@intertie/core/internal';
import { carry } from '../chunk/carry-event.ts';
import { UIAgents } from './encode-ui-agents.ts';
import { UIData } from './encode-ui-data.ts';
import { writeRunEnd } from './encode-ui-end.ts';
import { encodeFile, encodeInterjection, encodeSource } from './encode-ui-parts.ts';
import { UIQuestions, type KnownAnswer } from './encode-ui-questions.ts';
import { UITools } from './encode-ui-tools.ts';
import { UIWords } from './encode-ui-text-parts.ts';
import { slotKey } from '../../shared/intertie-metadata.ts';
import { omit } from '../../shared/read-fields.ts';
import { extensionId } from '../chunk/ui-extension.ts';
import type { UIMessageChunk, UIMessageChunkOf, UIMessageVersion } from '../chunk/ui-message-chunk.ts';
import {
  optionsKeyOf,
  withDefaults,
  type UIMessageEncoderOptions,
  type UIMessageEncoderSettings,
} from './ui-message-encoder-options.ts';
import { UISteps } from './ui-steps.ts';

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
class UIMessageEncoder implements Encoder<UIMessageChunk> {
  readonly version = '1';
  readonly optionsKey: string;
  #options: UIMessageEncoderSettings;
  #phase: 'before' | 'baseline' | 'running' | 'ended' = 'before';
  /** The parts that the client has been told of, and those that it is not told of. */
  #said = new Set<string>();
  #withheld = new Set<string>();
  #steps = new UISteps();
  #agents: UIAgents;
  #words: UIWords;
  #data: UIData;
  #tools: UITools;
  #questions: UIQuestions;
  /** What is known of the approvals of a restated message, for ai 6, which has no chunk for an answer. */
  #approvals = new Map<string, KnownAnswer>();

  constructor(options: UIMessageEncoderOptions) {
    this.#options = withDefaults(options);
    this.optionsKey = optionsKeyOf(this.#options);
    const { version, onLoss, staticTools } = this.#options;
    this.#agents = new UIAgents(this.#steps, onLoss);
    this.#words = new UIWords(version, this.#steps);
    this.#data = new UIData({ version, onLoss, steps: this.#steps });
    this.#tools = new UITools({ version, staticTools: staticTools && new Set(staticTools), onLoss }, this.#steps);
    const callOf = this.#tools.get.bind(this.#tools);
    this.#questions = new UIQuestions({ version, onLoss, steps: this.#steps, callOf });
  }

  feed(event: AgentEvent, emit: Write): void {
    switch (event.type) {
      case 'text-delta':
      case 'reasoning-delta':
        if (!this.#words.delta(event, emit)) this.#missing(event.type, event.id);
        return;
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
    this.#runEnd({ type: 'run-end', ...toInterruptedOutcome(end) }, emit);
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
        if (event.type === 'reasoning-start' && !this.#options.sendReasoning) {
          return this.#withhold('reasoning', event.id, 'reasoning');
        }
        if (this.#admit(event, event.id, emit)) this.#words.start(event, emit);
        return;
      case 'text-end':
      case 'reasoning-end':
        if (!this.#words.end(event, emit)) this.#missing(event.type, event.id);
        return;
      case 'tool-input-start':
        if (this.#admit(event, event.toolCallId, emit)) this.#tools.inputStart(event, emit);
        return;
      case 'tool-input-end':
        if (event.providerMetadata) this.#partMetadata(event.toolCallId, event.providerMetadata, emit);
        return;
      case 'tool-call':
        if (this.#tools.get(event.toolCallId) || this.#admit(event, event.toolCallId, emit)) {
          this.#tools.call(event, emit);
        }
        return;
      case 'tool-result':
        if (!this.#tools.result(event, emit)) this.#missing(event.type, event.toolCallId);
        return;
      case 'question':
        // About a call, it is a part of the call, and not what its agent is known by.
        if (!this.#questions.canAsk(event)) this.#agents.speak(event.agentId, undefined, emit);
        return this.#questions.ask(event, this.#approvals.get(event.questionId), emit);
      case 'answer':
        // Questions are never withheld, and their ids may be those of parts that are.
        if (!this.#questions.answer(event, emit)) this.#unfitting(event.type, event.questionId);
        return;
      case 'file':
        if (event.reasoning && !this.#options.sendReasoning) return this.#withhold(event.type, event.id, 'reasoning');
        if (!this.#admit(event, event.id, emit)) return;
        this.#steps.enter(event.stepId, 'other', emit);
        return emit(encodeFile(event, this.#options.version));
      case 'source':
        if (!this.#options.sendSources) return this.#withhold(event.type, event.id, 'sources');
        if (!this.#admit(event, event.id, emit)) return;
        this.#steps.place(event.stepId, emit);
        return emit(encodeSource(event, this.#options.onLoss));
      case 'interjection':
        if (!this.#admit(event, event.id, emit)) return;
        this.#steps.note(event.stepId);
        return emit(encodeInterjection(event, this.#options.version));
      case 'data':
        return this.#data.part(event, () => this.#admit(event, event.id, emit), emit);
      case 'data-delta':
        if (!this.#data.patch(event, emit)) this.#missing(event.type, event.id);
        return;
      case 'metadata':
        if (event.id !== undefined) return this.#partMetadata(event.id, event.providerMetadata, emit);
        return emit({ type: 'message-metadata', messageMetadata: event.metadata });
      case 'agent-start':
        return this.#agents.start(event, emit);
      case 'agent-end':
        if (!this.#agents.end(event, emit)) this.#missing(event.type, event.agentId);
        return;
      case 'step-start':
        return carry(event, emit);
      case 'step-end':
        return this.#stepEnd(event, emit);
      case 'state-snapshot':
        return this.#data.setState(event.state, emit);
      case 'state-delta':
        return this.#data.patchState(event, emit);
      case 'notice': {
        const data = omit(event, 'type', 'at', 'origin');
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
    this.#words.close(emit);
    this.#tools.end(emit);
    this.#steps.close(emit);
    this.#phase = 'ended';
    const { resume, ...ended } = event;
    if (resume !== undefined) {
      this.#lose({ kind: 'withheld', what: 'run-end resume', why: "The runtime's own token is not for the page." });
    }
    const isSilent = !this.#options.sendFinish && (ended.outcome === 'complete' || ended.outcome === 'paused');
    if (!isSilent) writeRunEnd(ended, this.#options.version, emit);
  }

  /** The baseline, if it comes first; otherwise a correction, of which only what is new can be said. */
  #snapshot(content: MessageContent, emit: Write): void {
    const isBaseline = this.#phase === 'baseline';
    this.#phase = 'running';
    if (isBaseline && this.#options.baseline === 'assume') return this.#assume(content);
    if (isBaseline) return this.#restate(content, emit);
    const known = (part: MessagePart): boolean =>
      part.type === 'tool-invocation'
        ? this.#tools.get(part.toolCallId) !== undefined
        : part.type === 'question'
          ? this.#questions.has(part.questionId)
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
        const { questionId, answer } = part.approval;
        this.#approvals.set(questionId, { answer, isSettled: isSettled(part.state) });
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
      if (part.type === 'tool-invocation') {
        this.#tools.learn(part);
        if (part.approval) this.#questions.learn(part.approval.questionId, part.toolCallId);
      } else if (part.type === 'question') this.#questions.learn(part.questionId);
      else if (part.type === 'data' && part.id !== undefined) this.#data.learn(part.id, part);
      if (part.id !== undefined) this.#said.add(part.id);
    }
    const shown = parts.filter(({ internal }) => !internal || this.#options.includeInternal);
    this.#agents.learn(
      agents,
      shown.map(({ agentId }) => agentId),
    );
  }

  #partMetadata(id: string, providerMetadata: Meta, emit: Write): void {
    if (this.#withheld.has(id)) return;
    const isTaken =
      this.#words.addMetadata(id, providerMetadata, emit) || this.#tools.addMetadata(id, providerMetadata);
    if (isTaken) return;
    const why = 'The part is complete, and the client takes no more metadata for it.';
    this.#lose({ kind: 'unsupported', what: 'metadata', why, id });
    carry({ type: 'metadata', id, providerMetadata }, emit);
  }

  #stepEnd(event: EventOf<'step-end'>, emit: Write): void {
    const { stepId } = event;
    this.#steps.endOf(stepId);
    if (event.discarded) {
      this.#tools.forget(stepId);
      this.#agents.forget(stepId);
    }
    if (event.discarded && this.#steps.hasPartsOf(stepId)) {
      if (this.#options.version === 7 && this.#steps.reset(stepId, emit)) {
        this.#data.forget(stepId);
      } else {
        const why = 'The client cannot take back the parts of this step, and shows them beside those of the next.';
        this.#lose({ kind: 'unsupported', what: 'discarded step', why, id: stepId });
      }
    }
    carry(event, emit);
  }

  /** Whether a part is for the page. If so, its agent is introduced first. */
  #admit(
    event: { type: string; agentId?: string; stepId?: string; internal?: true; transient?: true },
    id: string,
    emit: Write,
  ): boolean {
    if (event.internal && !this.#options.includeInternal) {
      this.#withhold(event.type, id, 'what agents say to each other');
      return false;
    }
    this.#said.add(id);
    if (!event.transient) this.#agents.speak(event.agentId, event.stepId, emit);
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
