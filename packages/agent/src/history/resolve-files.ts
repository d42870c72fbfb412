import { readBlobUrl, type CanonicalMessage, type MessageContent, type MessagePart, type OnLoss } from '@intertie/core';
import { encodeBase64, type FilePart } from '@intertie/core/internal';
import type { Blobs, Scope } from '@intertie/core/store';

type Body = { data: string } | { url: string } | undefined;

/** Gives messages the bytes of their blobs back: a model cannot look into our store. */
export class FileResolver {
  #blobs: Blobs;
  #scope: Scope;
  #onLoss: OnLoss;
  #read = new Map<string, Promise<Body>>();

  constructor(blobs: Blobs, scope: Scope, onLoss: OnLoss) {
    this.#blobs = blobs;
    this.#scope = scope;
    this.#onLoss = onLoss;
  }

  /** Those without blobs, which most are, as they are. */
  async messages(messages: CanonicalMessage[]): Promise<CanonicalMessage[]> {
    if (!messages.some(({ content }) => hasBlobs(content.parts))) return messages;
    return Promise.all(
      messages.map(async (message) => {
        const content = await this.content(message.content);
        return content === message.content ? message : { ...message, content };
      }),
    );
  }

  async content(content: MessageContent): Promise<MessageContent> {
    return hasBlobs(content.parts) ? { ...content, parts: await this.#parts(content.parts) } : content;
  }

  async #parts(parts: readonly MessagePart[]): Promise<MessagePart[]> {
    const resolved = await Promise.all(parts.map((part) => this.#part(part)));
    return resolved.filter((part) => part !== undefined);
  }

  async #part(part: MessagePart): Promise<MessagePart | undefined> {
    if (part.type === 'interjection') return { ...part, parts: await this.#parts(part.parts) };
    const sha256 = blobOf(part);
    if (sha256 === undefined) return part;
    let body = this.#read.get(sha256);
    if (!body) this.#read.set(sha256, (body = this.#bytes(sha256)));
    const found = await body;
    if (found) {
      const { url: _, ...rest } = part as FilePart;
      return { ...rest, ...found } as FilePart;
    }
    const why = `The store has no blob ${sha256} any more, so the model is not told of the file.`;
    this.#onLoss({ kind: 'unsupported', what: 'file', why, ...(part.id !== undefined && { id: part.id }) });
    return undefined;
  }

  async #bytes(sha256: string): Promise<Body> {
    const stream = await this.#blobs.get(this.#scope, sha256);
    if (stream) return { data: encodeBase64(new Uint8Array(await new Response(stream).arrayBuffer())) };
    const info = await this.#blobs.info(this.#scope, sha256);
    return info?.url === undefined ? undefined : { url: info.url };
  }
}

function hasBlobs(parts: readonly MessagePart[]): boolean {
  return parts.some((part) => (part.type === 'interjection' ? hasBlobs(part.parts) : blobOf(part) !== undefined));
}

function blobOf(part: MessagePart): string | undefined {
  return part.type === 'file' && part.url !== undefined ? readBlobUrl(part.url) : undefined;
}
