import type { TapeHeader } from '@intertie/core';
import { createDetector } from '../formats/detect-dialect.ts';
import { detectFraming } from '../formats/detect-framing.ts';
import { getDialectName, type Dialects } from '../formats/dialects.ts';
import { foreignStream } from './foreign-stream.ts';
import type { Frame, FrameProblem, Framing } from '../formats/frame.ts';
import type { KnownDialect } from '../formats/known-dialect.ts';
import { problemFrame, readFraming } from '../formats/read-framing.ts';

/** What a stream says at one place. */
export type Entry = { line: number } & (
  | { type: 'item'; item: unknown; text?: string; t?: number; cut?: true }
  | { type: 'done' }
  | { type: 'problem'; problem: FrameProblem; message: string; text: string }
);

export interface ItemStream {
  framing: Framing;
  known: KnownDialect;
  /** Of a tape. */
  header: TapeHeader | undefined;
  /** What each piece of the input holds: a reader that is slow holds up the input. */
  batches: AsyncIterable<Entry[]>;
}

export interface OpenStreamOptions {
  dialects: Dialects;
  framing?: Framing | undefined;
  dialect?: KnownDialect | undefined;
}

/** What is of no dialect after so many items is of none: an endless input is not held. */
const maxSample = 200;

/** Reads as much as is needed to know the framing and the dialect, and gives all of it. */
export async function openStream(
  bytes: AsyncIterable<Uint8Array>,
  { dialects, framing: given, dialect }: OpenStreamOptions,
): Promise<ItemStream> {
  const pieces = bytes[Symbol.asyncIterator]();
  const { framing, held } = await readHead(pieces, given);
  let header: TapeHeader | undefined;
  const codec = readFraming(framing, (found) => void (header = found));
  let isOver = false;

  const feed = (piece: Uint8Array): Frame[] => {
    const frames: Frame[] = [];
    codec.feed(piece, (frame) => frames.push(frame));
    return frames;
  };
  const next = async (): Promise<Frame[] | undefined> => {
    if (isOver) return undefined;
    const { done, value } = await pieces.next();
    if (!done) return feed(value);
    isOver = true;
    const frames: Frame[] = [];
    codec.end({ reason: 'eof' }, (frame) => frames.push(frame));
    return frames;
  };

  const frames = held.flatMap(feed);
  const known = await readDialect();

  async function readDialect(): Promise<KnownDialect> {
    if (dialect) return dialect;
    const detector = createDetector(dialects.all);
    const settle = (): KnownDialect => {
      const best = detector.settle();
      if (best) return best;
      throw foreignStream(framing, frames, dialects.all.map(getDialectName));
    };
    for (let index = 0; index < maxSample; index++) {
      while (index >= frames.length) {
        const more = await next();
        if (!more) return settle();
        frames.push(...more);
      }
      if (header) return dialects.find(header.dialect);
      const readings = readingsOf(frames[index]!);
      const found = readings.length > 0 ? detector.feed(...readings) : undefined;
      if (found) return found;
    }
    return settle();
  }

  async function* batches(): AsyncGenerator<Entry[]> {
    const hasEventNames = getDialectName(known) === 'mail';
    const read = (list: Frame[]): Entry[] => list.map((frame) => toEntry(frame, hasEventNames));
    try {
      yield read(frames);
      for (;;) {
        const more = await next();
        if (!more) return;
        yield read(more);
      }
    } finally {
      await pieces.return?.();
    }
  }
  return { framing, known, header, batches: batches() };
}

type Head = { framing: Framing; held: Uint8Array[] };

async function readHead(pieces: AsyncIterator<Uint8Array>, given: Framing | undefined): Promise<Head> {
  const held: Uint8Array[] = [];
  if (given) return { framing: given, held };
  const decoder = new TextDecoder();
  let text = '';
  for (;;) {
    const { done, value } = await pieces.next();
    if (!done) held.push(value);
    text += done ? decoder.decode() : decoder.decode(value, { stream: true });
    const framing = detectFraming(text, done === true);
    if (framing) return { framing, held };
  }
}

/** An item as most dialects have it; and with its event's name, which is a part of it in one of them. */
function readingsOf(frame: Frame): unknown[] {
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
    const why = cut ? undefined : `It is no JSON: ${(error as Error).message}.`;
    return problemFrame(line, cut ? 'cut' : 'json', text, why) as Entry;
  }
}
