import type { LanguageModelV3StreamPart, SharedV3Warning } from '@ai-sdk/provider';
import type { AgentEvent, Codec, Emit, End, EventOf, JsonObject, Meta, OnLoss, Usage } from '@intertie/core';
import { mergeMeta, toInterruptedOutcome } from '@intertie/core/internal';
import type { IncludeInternal } from '../shared/include-internal.ts';
import { V3CallEncoder } from './encode-v3-calls.ts';
import { unknownMediaType } from '../shared/file-body.ts';
import { toIdentity, withIntertie } from '../shared/intertie-metadata.ts';
import { defined } from '../shared/read-fields.ts';
import { toV3Error } from './to-v3-error.ts';
import { toV3FinishReason } from './to-v3-finish-reason.ts';
import { toV3Metadata } from './v3-metadata.ts';
import { V3Summary } from './v3-summary.ts';
import { toV3Usage } from './to-v3-usage.ts';

export interface LanguageModelV3EncoderOptions {
  /** Names of the tools in the caller's `options.tools`. The caller runs calls of these tools. */
  tools?: Iterable<string>;
  /** Whether content exchanged between agents is included. Default: false. */
  includeInternal?: IncludeInternal;
  /** Warnings about the call, known before the run starts. */
  warnings?: SharedV3Warning[];
  /** Whether `raw` events are passed on. Default: false. */
  includeRawChunks?: boolean;
  onLoss?: OnLoss;
}

/**
 * Encodes a run as the stream of a `LanguageModelV3`, for `streamText` of ai 6 and 7. All steps of the run become one step of
 * the caller: tools of the run are `providerExecuted` and `dynamic`, and its state and data are in the metadata of `finish`,
 * which is always the last part, also after an error.
 */
export function createLanguageModelV3Encoder(
  options: LanguageModelV3EncoderOptions = {},
): Codec<AgentEvent, LanguageModelV3StreamPart> {
  return new V3Encoder(options);
}

type Write = Emit<LanguageModelV3StreamPart>;
type Kind = 'text' | 'reasoning';
type PartIdentity = { id?: string; agentId?: string; providerMetadata?: Meta };
type OpenPart = { kind: Kind; meta: Meta | undefined };

/** Constants, because comparing concatenated strings is slow. */
const types = {
  text: { start: 'text-start', delta: 'text-delta', end: 'text-end' },
  reasoning: { start: 'reasoning-start', delta: 'reasoning-delta', end: 'reasoning-end' },
} as const;

class V3Encoder implements Codec<AgentEvent, LanguageModelV3StreamPart> {
  #onLoss: OnLoss;
  #includeInternal: IncludeInternal;
  #warnings: SharedV3Warning[];
  #includeRaw: boolean;
  #openParts = new Map<string, OpenPart>();
  #calls: V3CallEncoder;
  #withheld = new Set<string>();
  #stepUsage: Usage[] = [];
  #summary: V3Summary;
  #phase: 'before' | 'running' | 'ended' = 'before';

  constructor({
    tools,
    includeInternal = false,
    warnings = [],
    includeRawChunks = false,
    onLoss,
  }: LanguageModelV3EncoderOptions) {
    this.#onLoss = onLoss ?? (() => undefined);
    this.#summary = new V3Summary(this.#onLoss);
    this.#includeInternal = includeInternal;
    this.#calls = new V3CallEncoder({
      callerTools: tools && new Set(tools),
      onLoss: this.#onLoss,
      isVisible: (event, id) => this.#isVisible(event, id),
      isWithheld: (id) => this.#withheld.has(id),
      getMetadata: (event, extra) => this.#getMetadata(event, extra),
    });
    this.#warnings = warnings;
    this.#includeRaw = includeRawChunks;
  }

  feed(event: AgentEvent, emit: Write): void {
    if (this.#phase === 'ended') {
      return this.#onLoss({ kind: 'late', what: event.type, why: 'It came after the run had ended.' });
    }
    if (this.#phase === 'before') {
      this.#phase = 'running';
      emit({ type: 'stream-start', warnings: this.#warnings });
    }
    this.#encode(event, emit);
  }

  /** Writes `finish` for a stream that was not sealed and has no `run-end`. */
  end(end: End, emit: Write): void {
    if (this.#phase === 'ended') return;
    this.feed({ type: 'run-end', ...toInterruptedOutcome(end) }, emit);
  }

  #encode(event: AgentEvent, emit: Write): void {
    switch (event.type) {
      case 'run-start':
      case 'checkpoint':
      case 'message-snapshot':
        // The caller's prompt contains the baseline.
        return;
      case 'text-start':
      case 'reasoning-start':
        return this.#startPart(event.type === 'text-start' ? 'text' : 'reasoning', event, emit);
      case 'text-delta':
      case 'reasoning-delta':
        return this.#appendDelta(event, emit);
      case 'text-end':
      case 'reasoning-end':
        return this.#endPart(event, emit);
      case 'tool-input-start':
      case 'tool-input-delta':
      case 'tool-input-end':
        return this.#calls.encodeInput(event, emit);
      case 'tool-call':
        return this.#calls.encodeCall(event, emit);
      case 'tool-result':
        return this.#calls.encodeResult(event, emit);
      case 'question':
        return this.#calls.encodeQuestion(event, emit);
      case 'source':
      case 'file':
        if (this.#isVisible(event, event.id)) this.#encodeWholePart(event, emit);
        return;
      case 'step-end':
        return this.#endStep(event, emit);
      case 'raw':
        if (this.#includeRaw) emit({ type: 'raw', rawValue: event.value });
        return;
      case 'run-end':
        return this.#endRun(event, emit);
      default:
        this.#encodeOther(event);
    }
  }

  #startPart(kind: Kind, event: EventOf<'text-start' | 'reasoning-start'>, emit: Write): void {
    if (!this.#isVisible(event, event.id)) return;
    const shownKind = event.internal && this.#includeInternal === 'reasoning' ? 'reasoning' : kind;
    const meta = this.#getMetadata(event);
    this.#openParts.set(event.id, { kind: shownKind, meta });
    const type = types[shownKind].start;
    emit(meta ? { type, id: event.id, providerMetadata: meta } : { type, id: event.id });
  }

  /** Sends the merged metadata each time: `streamText` replaces the metadata of a part instead of merging it. */
  #appendDelta({ id, delta, providerMetadata }: EventOf<'text-delta' | 'reasoning-delta'>, emit: Write): void {
    const part = this.#openParts.get(id);
    if (!part) return this.#reportMissing('delta', id);
    part.meta = mergeMeta(part.meta, providerMetadata);
    const type = types[part.kind].delta;
    emit(providerMetadata ? { type, id, delta, ...toV3Metadata(part.meta) } : { type, id, delta });
  }

  #endPart(event: EventOf<'text-end' | 'reasoning-end'>, emit: Write): void {
    const { id, providerMetadata } = event;
    const part = this.#openParts.get(id);
    if (!part) return this.#reportMissing('end', id);
    this.#openParts.delete(id);
    const citations = event.type === 'text-end' ? event.citations : undefined;
    const merged = mergeMeta(part.meta, providerMetadata);
    const meta = citations ? withIntertie(merged, { citations }) : merged;
    const type = types[part.kind].end;
    emit(meta ? { type, id, providerMetadata: meta } : { type, id });
  }

  #encodeWholePart(event: EventOf<'source' | 'file'>, emit: Write): void {
    const { id } = event;
    if (event.type === 'file') {
      const { mimeType, filename, reasoning } = event;
      const meta = this.#getMetadata(event, defined({ filename, reasoning }));
      if (event.data !== undefined) {
        emit({ type: 'file', mediaType: mimeType ?? unknownMediaType, data: event.data, ...toV3Metadata(meta) });
      } else if (event.url !== undefined) {
        const { url } = event;
        emit({ type: 'source', sourceType: 'url', id, url, ...defined({ title: filename }), ...toV3Metadata(meta) });
      } else {
        const why = 'The file is stored at its provider; a V3 file part needs bytes.';
        this.#onLoss({ kind: 'unsupported', what: 'file', why, id });
      }
      return;
    }
    const { sourceType, url, title, mediaType = unknownMediaType, filename } = event;
    const meta = toV3Metadata(this.#getMetadata(event));
    if (sourceType === 'url' && url !== undefined) {
      emit({ type: 'source', sourceType, id, url, ...defined({ title }), ...meta });
    } else {
      const name = title ?? filename ?? url ?? '';
      emit({ type: 'source', sourceType: 'document', id, mediaType, title: name, ...defined({ filename }), ...meta });
    }
  }

  #endStep({ response, usage = [], discarded, stepId: id }: EventOf<'step-end'>, emit: Write): void {
    this.#stepUsage.push(...usage);
    if (discarded) {
      this.#onLoss({ kind: 'unsupported', what: 'discarded step', why: 'V3 cannot remove parts that were sent.', id });
    }
    if (!response) return;
    const { id: responseId, modelId, timestamp } = response;
    const time = timestamp === undefined ? undefined : new Date(timestamp);
    emit({ type: 'response-metadata', ...defined({ id: responseId, modelId, timestamp: time }) });
  }

  /** Handles events without a V3 part: summarized in `finish`, merged into an open part, or reported as lost. */
  #encodeOther(event: AgentEvent): void {
    if (event.type === 'step-start' || event.type === 'agent-end') return;
    if ((event.type === 'data' || event.type === 'interjection') && !this.#isVisible(event, event.id)) return;
    if (event.type === 'data-delta' && this.#withheld.has(event.id)) return;
    if (this.#summary.record(event)) return;
    if (event.type === 'metadata' && event.id !== undefined) {
      return this.#mergeLateMetadata(event.id, event.providerMetadata);
    }
    const why = 'A V3 stream has no part for it.';
    this.#onLoss({ kind: 'unsupported', what: event.type, why, ...getEventId(event) });
  }

  #mergeLateMetadata(id: string, providerMetadata: Meta): void {
    const part = this.#openParts.get(id);
    if (part) part.meta = mergeMeta(part.meta, providerMetadata);
    else {
      const why = 'The part has ended and cannot be changed.';
      this.#onLoss({ kind: 'unsupported', what: 'metadata', why, id });
    }
  }

  #endRun(event: EventOf<'run-end'>, emit: Write): void {
    this.#phase = 'ended';
    for (const [id, { kind, meta }] of this.#openParts) emit({ type: types[kind].end, id, ...toV3Metadata(meta) });
    if (event.outcome === 'error') emit({ type: 'error', error: toV3Error(event.error) });
    const { usage = this.#stepUsage } = event;
    emit({
      type: 'finish',
      usage: toV3Usage(usage),
      finishReason: toV3FinishReason(event, this.#calls.isWaiting),
      ...toV3Metadata(withIntertie(event.providerMetadata, this.#summary.build(event))),
    });
  }

  #isVisible(event: { type: string; internal?: true }, id: string): boolean {
    if (!event.internal || this.#includeInternal !== false) return true;
    if (!this.#withheld.has(id)) {
      this.#withheld.add(id);
      const why = 'The content is internal to the agents. Set "includeInternal" to show it.';
      this.#onLoss({ kind: 'withheld', what: event.type, why, id });
    }
    return false;
  }

  #reportMissing(what: string, id: string): void {
    if (this.#withheld.has(id)) return;
    this.#onLoss({ kind: 'repaired', what, why: 'No part with that id is open.', id });
  }

  #getMetadata(event: PartIdentity, extra?: JsonObject): Meta | undefined {
    const intertie = toIdentity(event);
    const agent = this.#summary.getAgentName(event.agentId);
    if (agent !== undefined) intertie.agent = agent;
    return withIntertie(event.providerMetadata, extra ? Object.assign(intertie, extra) : intertie);
  }
}

function getEventId(event: AgentEvent): { id?: string } {
  if ('id' in event && event.id !== undefined) return { id: event.id };
  return 'questionId' in event && event.questionId !== undefined ? { id: event.questionId } : {};
}
