import type { AgentEvent, Emit, Json, OnLoss } from '@intertie/core';
import { asFields, asNonEmptyText, asText, defined, equalJson, type PartIds } from '@intertie/core/internal';
import { readExtension } from '../shared/extension.ts';

/** Part of the message that an artifact has produced. `text` is the complete text so far. */
export type KnownPart = { id: string; text?: string; data?: Json; name?: string; isOpen?: boolean };

type ArtifactState = {
  /** Number of parts that are not text, in the current transmission of the artifact. */
  others: number;
  /** Length of the text in the current transmission. Shorter than the known text while an artifact is repeated. */
  seen: number;
};

type Update = { artifact: unknown; append: boolean; lastChunk: boolean };

/**
 * Decodes artifacts. The text parts of an artifact are one text; every other part has its own id. An artifact that is sent again
 * emits only new content, so that a client can subscribe at any time.
 */
export class ArtifactDecoder {
  #ids: PartIds;
  #onLoss: OnLoss;
  /** By the key of the part: the artifact id, with a number for further parts. */
  #parts: Map<string, KnownPart>;
  #states = new Map<string, ArtifactState>();

  constructor(ids: PartIds, parts: Map<string, KnownPart>, onLoss: OnLoss) {
    this.#ids = ids;
    this.#parts = parts;
    this.#onLoss = onLoss;
  }

  /** Whether an artifact has this text. */
  hasText(text: string): boolean {
    return [...this.#parts.values()].some((part) => part.text === text);
  }

  decode({ artifact, append, lastChunk }: Update, emit: Emit<AgentEvent>): void {
    const fields = asFields(artifact);
    const artifactId = asNonEmptyText(fields.artifactId) ?? 'artifact';
    const state = (append ? this.#states.get(artifactId) : undefined) ?? this.#restart(artifactId, append);
    const extension = readExtension(artifact);
    const list: unknown[] = Array.isArray(fields.parts) ? fields.parts : [];
    const texts = list.flatMap((part) => asText(asFields(part).text) ?? []);
    if (texts.length > 0) this.#decodeText(artifactId, state, texts.join(''), extension, emit);
    for (const part of list) {
      if (asText(asFields(part).text) !== undefined) continue;
      const key = state.others === 0 ? artifactId : `${artifactId}:${state.others}`;
      state.others += 1;
      this.#decodeOther(key, asFields(part), { name: asNonEmptyText(fields.name), extension }, emit);
    }
    if (lastChunk) this.#endText(artifactId, extension, emit);
  }

  /** Starts a transmission. An update that appends to an artifact of an earlier stream continues after its known text. */
  #restart(artifactId: string, append: boolean): ArtifactState {
    const state = { others: 0, seen: append ? (this.#parts.get(artifactId)?.text?.length ?? 0) : 0 };
    this.#states.set(artifactId, state);
    return state;
  }

  #decodeText(
    key: string,
    state: ArtifactState,
    chunk: string,
    extension: { readonly [key: string]: unknown },
    emit: Emit<AgentEvent>,
  ): void {
    const known = this.#parts.get(key);
    const text = known?.text ?? '';
    const repeated = Math.max(0, Math.min(chunk.length, text.length - state.seen));
    if (repeated > 0 && text.slice(state.seen, state.seen + repeated) !== chunk.slice(0, repeated)) {
      this.#onLoss({ kind: 'repaired', what: 'artifact', why: 'The agent replaced its text.', id: key });
      if (known?.isOpen) emit({ type: 'text-end', id: known.id });
      this.#parts.delete(key);
      const sent = text.slice(0, state.seen) + chunk;
      state.seen = 0;
      return this.#decodeText(key, state, sent, extension, emit);
    }
    state.seen += chunk.length;
    const part = known ?? this.#startText(key, extension, emit);
    const delta = chunk.slice(repeated);
    const hasFields = extension.delta !== undefined && part.isOpen && state.seen >= text.length;
    if (delta === '' && !hasFields) return;
    if (!part.isOpen) {
      // The part was closed when its run paused. The rest of the text is a part of its own.
      Object.assign(part, this.#startText(key, {}, emit), { text: part.text });
    }
    part.text = (part.text ?? '') + delta;
    emit({ type: 'text-delta', id: part.id, delta, ...asFields(extension.delta) });
  }

  #startText(key: string, extension: { readonly [key: string]: unknown }, emit: Emit<AgentEvent>): KnownPart {
    const part: KnownPart = { id: this.#ids.open(key), text: '', isOpen: true };
    this.#parts.set(key, part);
    emit({ type: 'text-start', ...this.#identify(key, part.id, extension.start) });
    return part;
  }

  #endText(key: string, extension: { readonly [key: string]: unknown }, emit: Emit<AgentEvent>): void {
    const part = this.#parts.get(key);
    const seen = this.#states.get(key)?.seen ?? 0;
    if (!part?.isOpen || seen < (part.text?.length ?? 0)) return;
    part.isOpen = false;
    emit({ type: 'text-end', ...asFields(extension.end), id: part.id });
  }

  #decodeOther(
    key: string,
    part: { readonly [key: string]: unknown },
    { name, extension }: { name: string | undefined; extension: { readonly [key: string]: unknown } },
    emit: Emit<AgentEvent>,
  ): void {
    const { raw, url, data, mediaType, filename } = part;
    const known = this.#parts.get(key);
    const file = defined({ data: asText(raw), url: asText(url) });
    if (file.data === undefined && file.url === undefined) {
      if (data === undefined) return emit({ type: 'raw', dialect: 'a2a', value: part as Json });
      return this.#decodeData(key, data as Json, { name, extension }, emit);
    }
    if (known) return;
    const id = this.#ids.open(key);
    this.#parts.set(key, { id });
    const fields = defined({ mimeType: asNonEmptyText(mediaType), filename: asNonEmptyText(filename) ?? name });
    emit({ type: 'file', ...this.#identify(key, id, extension.start), ...file, ...fields } as AgentEvent);
  }

  #decodeData(
    key: string,
    data: Json,
    { name = 'a2a', extension }: { name: string | undefined; extension: { readonly [key: string]: unknown } },
    emit: Emit<AgentEvent>,
  ): void {
    const known = this.#parts.get(key);
    if (known?.data !== undefined && known.name === name && equalJson(known.data, data)) return;
    const id = known?.id ?? this.#ids.open(key);
    this.#parts.set(key, { id, data, name });
    const { patch, ...start } = asFields(extension.start);
    if (known && Array.isArray(patch)) emit({ type: 'data-delta', ...start, id, patch });
    else emit({ type: 'data', ...this.#identify(key, id, start), name, data });
  }

  /** Id of a part, with the fields of the extension. The metadata name the artifact if its id was already used in the thread. */
  #identify(key: string, id: string, start: unknown): { id: string } {
    const { providerMetadata, ...fields } = asFields(start);
    const own = id === key ? {} : { a2a: { part: key } };
    const metadata = { ...asFields(providerMetadata), ...own };
    return { ...fields, id, ...(Object.keys(metadata).length > 0 && { providerMetadata: metadata }) };
  }
}
