import type { AgentEvent, Emit, Encoder, End, EventOf, MessageContent, MessagePart, Meta } from '@intertie/core';
import { isSettled, toInterruptedOutcome, unfoldContent } from '@intertie/core/internal';
import { emitDataEvent } from './emit-data-event.ts';
import { UIAgentEncoder } from './encode-ui-agents.ts';
import { UIDataEncoder } from './encode-ui-data.ts';
import { encodeRunEnd } from './encode-ui-end.ts';
import { encodeFile, encodeInterjection, encodeSource } from './encode-ui-parts.ts';
import { UIQuestionEncoder, type KnownAnswer } from './encode-ui-questions.ts';
import { UIToolEncoder } from './encode-ui-tools.ts';
import { UITextPartEncoder } from './encode-ui-text-parts.ts';
import { metadataKey } from '../../shared/intertie-metadata.ts';
import { omit } from '../../shared/read-fields.ts';
import { toExtensionId } from '../chunk/ui-extension.ts';
import type { UIMessageChunk, UIMessageChunkOf, UIMessageVersion } from '../chunk/ui-message-chunk.ts';
import {
  toOptionsKey,
  withDefaults,
  type UIMessageEncoderOptions,
  type UIMessageEncoderSettings,
} from './ui-message-encoder-options.ts';
import { UIStepEncoder } from './encode-ui-steps.ts';

/**
 * Encodes canonical events as the UI message stream of ai 6 or 7, which `useChat` reads. Depends only on the options and the
 * events. Events without a chunk are sent as data that our decoder restores (see `ExtensionName`); every loss is reported.
 */
export function createUIMessageEncoder<Version extends UIMessageVersion = 6>(
  options: UIMessageEncoderOptions<Version> = {},
): Encoder<UIMessageChunkOf<Version>> {
  // The version option selects the chunk type, which a class cannot express.
  return new UIMessageEncoder(options) as Encoder<UIMessageChunk> as Encoder<UIMessageChunkOf<Version>>;
}

type Write = Emit<UIMessageChunk>;
class UIMessageEncoder implements Encoder<UIMessageChunk> {
  readonly version = '1';
  readonly optionsKey: string;
  #options: UIMessageEncoderSettings;
  #phase: 'before' | 'baseline' | 'running' | 'ended' = 'before';
  /** Parts that the client has, and parts that are withheld from it. */
  #sentParts = new Set<string>();
  #withheld = new Set<string>();
  #steps = new UIStepEncoder();
  #agents: UIAgentEncoder;
  #textParts: UITextPartEncoder;
  #data: UIDataEncoder;
  #tools: UIToolEncoder;
  #questions: UIQuestionEncoder;
  /** Answers to approvals of a replayed message, for ai 6, which has no chunk for an answer. */
  #knownAnswers = new Map<string, KnownAnswer>();

  constructor(options: UIMessageEncoderOptions) {
    this.#options = withDefaults(options);
    this.optionsKey = toOptionsKey(this.#options);
    const { version, onLoss, staticTools } = this.#options;
    this.#agents = new UIAgentEncoder(this.#steps, onLoss);
    this.#textParts = new UITextPartEncoder(version, this.#steps);
    this.#data = new UIDataEncoder({ version, onLoss, steps: this.#steps });
    this.#tools = new UIToolEncoder({ version, staticTools: staticTools && new Set(staticTools), onLoss }, this.#steps);
    const getCall = this.#tools.getCall.bind(this.#tools);
    this.#questions = new UIQuestionEncoder({ version, onLoss, steps: this.#steps, getCall });
  }

  feed(event: AgentEvent, emit: Write): void {
    switch (event.type) {
      case 'text-delta':
      case 'reasoning-delta':
        if (!this.#textParts.encodeDelta(event, emit)) this.#reportMissing(event.type, event.id);
        return;
      case 'tool-input-delta':
        if (!this.#tools.encodeInputDelta(event, emit)) this.#reportMissing(event.type, event.toolCallId);
        return;
      default:
        return this.#encode(event, emit);
    }
  }

  /** Ends a run that was cut off as interrupted, so that the client does not treat it as complete. */
  end(end: End, emit: Write): void {
    if (this.#phase === 'ended') return;
    if (this.#phase === 'before' && end.reason === 'eof') return;
    this.#endRun({ type: 'run-end', ...toInterruptedOutcome(end) }, emit);
  }

  #encode(event: AgentEvent, emit: Write): void {
    if (this.#phase === 'ended') {
      return this.#options.onLoss({ kind: 'late', what: event.type, why: 'It came after the run had ended.' });
    }
    if (event.type === 'run-start') return this.#startRun(event, emit);
    if (event.type === 'message-snapshot') return this.#encodeSnapshot(event.content, emit);
    this.#phase = 'running';
    this.#encodeEvent(event, emit);
  }

  #encodeEvent(event: AgentEvent, emit: Write): void {
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
        if (this.#admitPart(event, event.id, emit)) this.#textParts.encodeStart(event, emit);
        return;
      case 'text-end':
      case 'reasoning-end':
        if (!this.#textParts.encodeEnd(event, emit)) this.#reportMissing(event.type, event.id);
        return;
      case 'tool-input-start':
        if (this.#admitPart(event, event.toolCallId, emit)) this.#tools.encodeInputStart(event, emit);
        return;
      case 'tool-input-end':
        if (event.providerMetadata) this.#addPartMetadata(event.toolCallId, event.providerMetadata, emit);
        return;
      case 'tool-call':
        if (this.#tools.getCall(event.toolCallId) || this.#admitPart(event, event.toolCallId, emit)) {
          this.#tools.encodeCall(event, emit);
        }
        return;
      case 'tool-result':
        if (!this.#tools.encodeResult(event, emit)) this.#reportMissing(event.type, event.toolCallId);
        return;
      case 'question':
        // An approval belongs to its call. Only a separate question counts as content of its agent.
        if (!this.#questions.isApproval(event)) this.#agents.ensurePersisted(event.agentId, undefined, emit);
        return this.#questions.encodeQuestion(event, this.#knownAnswers.get(event.questionId), emit);
      case 'answer':
        // Not `#reportMissing`: questions are never withheld, but can share an id with a withheld part.
        if (!this.#questions.encodeAnswer(event, emit)) this.#reportUnmatched(event.type, event.questionId);
        return;
      case 'file':
        if (event.reasoning && !this.#options.sendReasoning) return this.#withhold(event.type, event.id, 'reasoning');
        if (!this.#admitPart(event, event.id, emit)) return;
        this.#steps.enterStep(event.stepId, 'other', emit);
        return emit(encodeFile(event, this.#options.version));
      case 'source':
        if (!this.#options.sendSources) return this.#withhold(event.type, event.id, 'sources');
        if (!this.#admitPart(event, event.id, emit)) return;
        this.#steps.enterNamedStep(event.stepId, emit);
        return emit(encodeSource(event, this.#options.onLoss));
      case 'interjection':
        if (!this.#admitPart(event, event.id, emit)) return;
        this.#steps.addPart(event.stepId);
        return emit(encodeInterjection(event, this.#options.version));
      case 'data':
        return this.#data.encodeData(event, () => this.#admitPart(event, event.id, emit), emit);
      case 'data-delta':
        if (!this.#data.encodePatch(event, emit)) this.#reportMissing(event.type, event.id);
        return;
      case 'metadata':
        if (event.id !== undefined) return this.#addPartMetadata(event.id, event.providerMetadata, emit);
        return emit({ type: 'message-metadata', messageMetadata: event.metadata });
      case 'agent-start':
        return this.#agents.encodeStart(event, emit);
      case 'agent-end':
        if (!this.#agents.encodeEnd(event, emit)) this.#reportMissing(event.type, event.agentId);
        return;
      case 'step-start':
        return emitDataEvent(event, emit);
      case 'step-end':
        return this.#endStep(event, emit);
      case 'state-snapshot':
        return this.#data.encodeState(event.state, emit);
      case 'state-delta':
        return this.#data.encodeStatePatch(event, emit);
      case 'notice': {
        const data = omit(event, 'type', 'at', 'origin');
        return emit({ type: 'data-notice', id: toExtensionId('notice'), data, transient: true });
      }
      case 'raw':
        return this.#options.onLoss({
          kind: 'withheld',
          what: 'raw',
          why: 'Unknown wire data is not sent to the page.',
        });
      case 'run-end':
        return this.#endRun(event, emit);
      case 'run-start':
      case 'message-snapshot':
      case 'checkpoint':
        return;
      default:
        return this.#options.onLoss({
          kind: 'unsupported',
          what: (event as AgentEvent).type,
          why: 'Unknown event type in this version.',
        });
    }
  }

  #startRun({ runId, messageId }: EventOf<'run-start'>, emit: Write): void {
    if (this.#phase !== 'before') {
      return this.#options.onLoss({
        kind: 'repaired',
        what: 'run-start',
        why: 'The run has already started.',
        id: runId,
      });
    }
    this.#phase = 'baseline';
    if (this.#options.sendStart) emit({ type: 'start', messageId, messageMetadata: { [metadataKey]: { runId } } });
  }

  #endRun(event: EventOf<'run-end'>, emit: Write): void {
    this.#textParts.closeAll(emit);
    this.#tools.flushMetadata(emit);
    this.#steps.close(emit);
    this.#phase = 'ended';
    const { resume, ...ended } = event;
    if (resume !== undefined) {
      this.#options.onLoss({
        kind: 'withheld',
        what: 'run-end resume',
        why: "The runtime's resume token is not sent to the page.",
      });
    }
    const isSilent = !this.#options.sendFinish && (ended.outcome === 'complete' || ended.outcome === 'paused');
    if (!isSilent) encodeRunEnd(ended, this.#options.version, emit);
  }

  /** Handles the baseline, or a later snapshot, of which only new parts can be sent. */
  #encodeSnapshot(content: MessageContent, emit: Write): void {
    const isBaseline = this.#phase === 'baseline';
    this.#phase = 'running';
    if (isBaseline && this.#options.baseline === 'assume') return this.#assumeContent(content);
    if (isBaseline) return this.#replayContent(content, emit);
    const isKnown = (part: MessagePart): boolean =>
      part.type === 'tool-invocation'
        ? this.#tools.getCall(part.toolCallId) !== undefined
        : part.type === 'question'
          ? this.#questions.has(part.questionId)
          : part.id === undefined || this.#sentParts.has(part.id);
    const why = 'The client cannot remove parts; only new parts were sent.';
    this.#options.onLoss({ kind: 'unsupported', what: 'message-snapshot', why });
    const { format, parts } = content;
    this.#replayContent({ format, parts: parts.filter((part) => !isKnown(part)) }, emit);
  }

  #replayContent(content: MessageContent, emit: Write): void {
    if (this.#options.version === 6) {
      for (const part of content.parts) {
        if (part.type !== 'tool-invocation' || part.approval?.answer === undefined) continue;
        const { questionId, answer } = part.approval;
        this.#knownAnswers.set(questionId, { answer, isSettled: isSettled(part.state) });
      }
    }
    if (content.providerMetadata) {
      const why = 'A UI message has provider metadata only on its parts.';
      this.#options.onLoss({ kind: 'unsupported', what: 'providerMetadata of the message', why });
    }
    for (const event of unfoldContent(content)) this.#encodeEvent(event, emit);
  }

  /** Registers the parts of a message that the client sent, without writing chunks. */
  #assumeContent({ parts, agents = {} }: MessageContent): void {
    for (const part of parts) {
      const id = part.type === 'tool-invocation' ? part.toolCallId : part.id;
      if (part.internal && !this.#options.includeInternal) {
        if (id !== undefined) this.#withheld.add(id);
        continue;
      }
      if (part.type === 'tool-invocation') {
        this.#tools.addBaseline(part);
        if (part.approval) this.#questions.addBaseline(part.approval.questionId, part.toolCallId);
      } else if (part.type === 'question') this.#questions.addBaseline(part.questionId);
      else if (part.type === 'data' && part.id !== undefined) this.#data.addBaseline(part.id, part);
      if (part.id !== undefined) this.#sentParts.add(part.id);
    }
    const shown = parts.filter(({ internal }) => !internal || this.#options.includeInternal);
    this.#agents.addBaseline(
      agents,
      shown.map(({ agentId }) => agentId),
    );
  }

  #addPartMetadata(id: string, providerMetadata: Meta, emit: Write): void {
    if (this.#withheld.has(id)) return;
    const isAdded =
      this.#textParts.addMetadata(id, providerMetadata, emit) || this.#tools.addMetadata(id, providerMetadata);
    if (isAdded) return;
    const why = 'The part is complete; the client accepts no more metadata for it.';
    this.#options.onLoss({ kind: 'unsupported', what: 'metadata', why, id });
    emitDataEvent({ type: 'metadata', id, providerMetadata }, emit);
  }

  #endStep(event: EventOf<'step-end'>, emit: Write): void {
    const { stepId } = event;
    this.#steps.closeStepParts(stepId);
    if (event.discarded) {
      this.#tools.discardStep(stepId);
      this.#agents.discardStep(stepId);
    }
    if (event.discarded && this.#steps.hasStepParts(stepId)) {
      if (this.#options.version === 7 && this.#steps.reset(stepId, emit)) {
        this.#data.discardStep(stepId);
      } else {
        const why = 'The client cannot remove the parts of this step, and shows them next to those of the retry.';
        this.#options.onLoss({ kind: 'unsupported', what: 'discarded step', why, id: stepId });
      }
    }
    emitDataEvent(event, emit);
  }

  /** Whether a part is sent to the page. If so, makes its agent part of the message first. */
  #admitPart(
    event: { type: string; agentId?: string; stepId?: string; internal?: true; transient?: true },
    id: string,
    emit: Write,
  ): boolean {
    if (event.internal && !this.#options.includeInternal) {
      this.#withhold(event.type, id, 'content exchanged between agents');
      return false;
    }
    this.#sentParts.add(id);
    if (!event.transient) this.#agents.ensurePersisted(event.agentId, event.stepId, emit);
    return true;
  }

  #withhold(what: string, id: string, policy: string): void {
    this.#withheld.add(id);
    this.#options.onLoss({ kind: 'withheld', what, why: `The options exclude ${policy}.`, id });
  }

  /** Reports an event without its part, unless the part was withheld. */
  #reportMissing(what: string, id: string): void {
    if (!this.#withheld.has(id)) this.#reportUnmatched(what, id);
  }

  #reportUnmatched(what: string, id: string): void {
    this.#options.onLoss({ kind: 'repaired', what, why: 'It refers to an unknown id and was ignored.', id });
  }
}
