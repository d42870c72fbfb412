import { readBlobUrl, type CanonicalMessage, type MessageContent, type MessagePart, type OnLoss } from '@intertie/core';
import { encodeBase64, type FilePart } from '@intertie/core/internal';
import type { Blobs, Scope } from '@intertie/core/store';

type Body = { data: string } | { url: string } | undefined;

/** Replaces blob URLs in messages with the bytes, because a model cannot read the store. */
export class FileResolver {
  #blobs: Blobs;
  #scope: Scope;
  #onLoss: OnLoss;
  #bodies = new Map<string, Promise<Body>>();

  constructor(blobs: Blobs, scope: Scope, onLoss: OnLoss) {
    this.#blobs = blobs;
    this.#scope = scope;
    this.#onLoss = onLoss;
  }

  /** Returns the same array if no message has a blob. */
  async resolveMessages(messages: CanonicalMessage[]): Promise<CanonicalMessage[]> {
    if (!messages.some(({ content }) => hasBlobs(content.parts))) return messages;
    return Promise.all(
      messages.map(async (message) => {
        const content = await this.resolveContent(message.content);
        return content === message.content ? message : { ...message, content };
      }),
    );
  }

  async resolveContent(content: MessageContent): Promise<MessageContent> {
    return hasBlobs(content.parts) ? { ...content, parts: await this.#resolveParts(content.parts) } : content;
  }

  async #resolveParts(parts: readonly MessagePart[]): Promise<MessagePart[]> {
    const resolved = await Promise.all(parts.map((part) => this.#resolvePart(part)));
    return resolved.filter((part) => part !== undefined);
  }

  async #resolvePart(part: MessagePart): Promise<MessagePart | undefined> {
    if (part.type === 'interjection') return { ...part, parts: await this.#resolveParts(part.parts) };
    const sha256 = getBlobHash(part);
    if (sha256 === undefined) return part;
    let body = this.#bodies.get(sha256);
    if (!body) this.#bodies.set(sha256, (body = this.#readBlob(sha256)));
    const found = await body;
    if (found) {
      const { url: _, ...rest } = part as FilePart;
      return { ...rest, ...found } as FilePart;
    }
    const why = `The store no longer has blob ${sha256}, so the file is not sent to the model.`;
    this.#onLoss({ kind: 'unsupported', what: 'file', why, ...(part.id !== undefined && { id: part.id }) });
    return undefined;
  }

  async #readBlob(sha256: string): Promise<Body> {
    const stream = await this.#blobs.get(this.#scope, sha256);
    if (stream) return { data: encodeBase64(new Uint8Array(await new Response(stream).arrayBuffer())) };
    const info = await this.#blobs.info(this.#scope, sha256);
    return info?.url === undefined ? undefined : { url: info.url };
  }
}

function hasBlobs(parts: readonly MessagePart[]): boolean {
  return parts.some((part) => (part.type === 'interjection' ? hasBlobs(part.parts) : getBlobHash(part) !== undefined));
}

function getBlobHash(part: MessagePart): string | undefined {
  return part.type === 'file' && part.url !== undefined ? readBlobUrl(part.url) : undefined;
}
