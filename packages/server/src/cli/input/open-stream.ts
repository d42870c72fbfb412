import type { TapeHeader } from '@intertie/core';
import { createDetector } from '../formats/detect-protocol.ts';
import { detectFraming } from '../formats/detect-framing.ts';
import type { ProtocolList } from '../formats/protocol-list.ts';
import { createUnknownProtocolError } from './unknown-protocol-error.ts';
import type { Frame, FrameProblem, Framing } from '../formats/frame.ts';
import type { Protocol } from '@intertie/core';
import { problemFrame, readFraming } from '../formats/read-framing.ts';

/** One item of a stream, its end marker, or a framing problem. */
export type Entry = { line: number } & (
  | { type: 'item'; item: unknown; text?: string; t?: number; cut?: true }
  | { type: 'done' }
  | { type: 'problem'; problem: FrameProblem; message: string; text: string }
);

/** Stream of known framing and protocol. */
export interface ItemStream {
  framing: Framing;
  known: Protocol;
  /** Header, if the input is a tape. */
  header: TapeHeader | undefined;
  /** Entries of each chunk of the input. Reading slowly applies backpressure. */
  batches: AsyncIterable<Entry[]>;
}

export interface OpenStreamOptions {
  protocols: ProtocolList;
  framing?: Framing | undefined;
  protocol?: Protocol | undefined;
}

/** Maximum number of items for detection, so that an endless unknown input is not buffered. */
const maxSample = 200;

/** Reads an input until its framing and protocol are known, and returns all its entries, including those. */
export async function openStream(
  bytes: AsyncIterable<Uint8Array>,
  { protocols, framing: given, protocol }: OpenStreamOptions,
): Promise<ItemStream> {
  const chunks = bytes[Symbol.asyncIterator]();
  const { framing, buffered } = await readHead(chunks, given);
  let header: TapeHeader | undefined;
  const codec = readFraming(framing, (found) => void (header = found));
  let hasEnded = false;

  const feed = (chunk: Uint8Array): Frame[] => {
    const frames: Frame[] = [];
    codec.feed(chunk, (frame) => frames.push(frame));
    return frames;
  };
  const next = async (): Promise<Frame[] | undefined> => {
    if (hasEnded) return undefined;
    const { done, value } = await chunks.next();
    if (!done) return feed(value);
    hasEnded = true;
    const frames: Frame[] = [];
    codec.end({ reason: 'eof' }, (frame) => frames.push(frame));
    return frames;
  };

  const frames = buffered.flatMap(feed);
  const known = await readProtocol();

  async function readProtocol(): Promise<Protocol> {
    if (protocol) return protocol;
    const detector = createDetector(protocols.all);
    const settle = (): Protocol => {
      const best = detector.settle();
      if (best) return best;
      throw createUnknownProtocolError(
        framing,
        frames,
        protocols.all.map(({ name }) => name),
      );
    };
    for (let index = 0; index < maxSample; index++) {
      while (index >= frames.length) {
        const nextFrames = await next();
        if (!nextFrames) return settle();
        frames.push(...nextFrames);
      }
      if (header) return protocols.find(header.dialect);
      const readings = getReadings(frames[index]!);
      const found = readings.length > 0 ? detector.feed(...readings) : undefined;
      if (found) return found;
    }
    return settle();
  }

  async function* batches(): AsyncGenerator<Entry[]> {
    const hasEventNames = known.framing.hasEventNames === true;
    const read = (list: Frame[]): Entry[] => list.map((frame) => toEntry(frame, hasEventNames));
    try {
      yield read(frames);
      for (;;) {
        const nextFrames = await next();
        if (!nextFrames) return;
        yield read(nextFrames);
      }
    } finally {
      await chunks.return?.();
    }
  }
  return { framing, known, header, batches: batches() };
}

type Head = { framing: Framing; buffered: Uint8Array[] };

async function readHead(chunks: AsyncIterator<Uint8Array>, given: Framing | undefined): Promise<Head> {
  const buffered: Uint8Array[] = [];
  if (given) return { framing: given, buffered };
  const decoder = new TextDecoder();
  let text = '';
  for (;;) {
    const { done, value } = await chunks.next();
    if (!done) buffered.push(value);
    text += done ? decoder.decode() : decoder.decode(value, { stream: true });
    const framing = detectFraming(text, done === true);
    if (framing) return { framing, buffered };
  }
}

/** Parses an item in both ways: most protocols ignore the SSE event name, and in some it is part of the item. */
function getReadings(frame: Frame): unknown[] {
  const entry = toEntry(frame, false);
  const named = frame.type === 'text' && frame.event !== undefined ? [{ event: frame.event, data: frame.text }] : [];
  return entry.type === 'item' ? [entry.item, ...named] : named;
}

function toEntry(frame: Frame, hasEventNames: boolean): Entry {
  if (frame.type === 'value') {
    const { line, value, t } = frame;
    return t === undefined ? { type: 'item', line, item: value } : { type: 'item', line, item: value, t };
  }
  if (frame.type !== 'text') return frame;
  const { line, text, cut } = frame;
  try {
    const item: unknown =
      hasEventNames && frame.event !== undefined ? { event: frame.event, data: text } : JSON.parse(text);
    return cut ? { type: 'item', line, item, text, cut } : { type: 'item', line, item, text };
  } catch (error) {
    const message = cut ? undefined : `It is not valid JSON: ${(error as Error).message}.`;
    return problemFrame(line, cut ? 'cut' : 'json', text, message) as Entry;
  }
}
