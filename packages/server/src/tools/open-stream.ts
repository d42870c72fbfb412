import type { TapeHeader } from '@intertie/core';
import { createDetector } from './detect-dialect.ts';
import { detectFraming } from './detect-framing.ts';
import { nameOf, type Dialects } from './dialects.ts';
import type { Frame, FrameProblem, Framing } from './frame.ts';
import type { KnownDialect } from './known-dialect.ts';
import { problemFrame, readFraming } from './read-framing.ts';
import { ToolError } from './tool-error.ts';

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
    for (let index = 0; ; index++) {
      while (index >= frames.length) {
        // oxlint-disable-next-line no-await-in-loop -- as much as is needed, and no more
        const more = await next();
        if (!more) return detector.settle() ?? refuse(framing, frames);
        frames.push(...more);
      }
      if (header) return dialects.find(header.dialect);
      const found = detect(frames[index]!, (item) => detector.feed(item));
      if (found) return found;
    }
  }

  async function* batches(): AsyncGenerator<Entry[]> {
    const hasEventNames = nameOf(known) === 'mail';
    const read = (list: Frame[]): Entry[] => list.map((frame) => toEntry(frame, hasEventNames));
    try {
      yield read(frames);
      for (;;) {
        // oxlint-disable-next-line no-await-in-loop -- one piece after the other
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
    // oxlint-disable-next-line no-await-in-loop -- as much as is needed, and no more
    const { done, value } = await pieces.next();
    if (!done) held.push(value);
    text += done ? decoder.decode() : decoder.decode(value, { stream: true });
    const framing = detectFraming(text, done === true);
    if (framing) return { framing, held };
  }
}

/** An event's name may be part of the item, and only one dialect has it so. */
function detect(frame: Frame, feed: (item: unknown) => KnownDialect | undefined): KnownDialect | undefined {
  if (frame.type === 'text' && frame.event !== undefined) {
    const found = feed({ event: frame.event, data: frame.text });
    if (found) return found;
  }
  const entry = toEntry(frame, false);
  return entry.type === 'item' ? feed(entry.item) : undefined;
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
    const why = cut ? undefined : `It is no JSON: ${(error as Error).message}`;
    return problemFrame(line, cut ? 'cut' : 'json', text, why) as Entry;
  }
}

function refuse(framing: Framing, frames: readonly Frame[]): never {
  const names: { [framing in Framing]: string } = {
    sse: 'Server-sent events',
    ndjson: 'JSON lines',
    tape: 'A tape',
    json: 'JSON',
  };
  const first = frames[0];
  const text =
    first?.type === 'value' ? JSON.stringify(first.value) : first && 'text' in first ? first.text : undefined;
  const shown = text === undefined ? 'There is no item in it.' : `The first item: ${text.slice(0, 160)}`;
  const fix =
    'If you know what it is, name the dialect. The tools know canonical, ag-ui, ui-message-stream, mail, open-harness, ai-sdk and model-messages.';
  throw new ToolError('unreadable', `${names[framing]}, but of no dialect that is known here. ${shown}`, fix);
}
