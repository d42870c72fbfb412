import { compose, readTape, type Codec, type Emit, type TapeHeader } from '@intertie/core';
import { splitLines, type Line, type TapeLine } from '@intertie/core/internal';
import type { Frame, FrameProblem, Framing } from './frame.ts';

/** A line of a stream that holds whole files in base64 is long; one that never ends is no stream. */
const maxLineLength = 64 * 1024 * 1024;

/** Bytes as frames. What cannot be read is a frame too, so that nothing is passed over in silence. */
export function readFraming(framing: Framing, onHeader?: (header: TapeHeader) => void): Codec<Uint8Array, Frame> {
  switch (framing) {
    case 'sse':
      return compose(splitLines(maxLineLength), readEvents());
    case 'ndjson':
      return compose(splitLines(maxLineLength), readLines());
    case 'tape':
      return compose(readTape({ maxLineLength }), readItems(onHeader));
    case 'json':
      return readDocument();
  }
}

const problems: { [problem in FrameProblem]: string } = {
  json: 'It is no JSON.',
  cut: 'It was cut off: the stream ends inside it.',
  encoding: 'It is not UTF-8.',
  size: 'It is too long to be read.',
};

export function problemFrame(line: number, problem: FrameProblem, text = '', why?: string): Frame {
  return { type: 'problem', line, problem, message: why ?? problems[problem], text };
}

function unreadable({ line, problem }: Extract<Line, { problem: string }>): Frame {
  return problemFrame(line, problem === 'encoding' ? 'encoding' : 'size');
}

function readLines(): Codec<Line, Frame> {
  return {
    feed(line, emit) {
      if (line.text === undefined) return emit(unreadable(line));
      const text = withoutMark(line).trim();
      if (text !== '') emit({ type: 'text', line: line.line, text });
    },
    end() {},
  };
}

/** Some editors put a byte order mark before the first line. */
function withoutMark({ line, text }: Extract<Line, { text: string }>): string {
  return line === 1 ? text.replace(/^\ufeff/, '') : text;
}

/** Fields of an event stream. Comments, ids and retry times say nothing about the items. */
function readEvents(): Codec<Line, Frame> {
  let data: string | undefined;
  let event: string | undefined;
  let start = 1;

  const dispatch = (emit: Emit<Frame>, cut: boolean): void => {
    if (data === '[DONE]') emit({ type: 'done', line: start });
    else if (data !== undefined) {
      emit({ type: 'text', line: start, text: data, ...(event !== undefined && { event }), ...(cut && { cut }) });
    }
    data = undefined;
    event = undefined;
  };

  return {
    feed(line, emit) {
      if (line.text === undefined) return emit(unreadable(line));
      const text = withoutMark(line);
      if (text === '') return dispatch(emit, false);
      if (data === undefined && event === undefined) start = line.line;
      const colon = text.indexOf(':');
      const value = colon === -1 ? '' : text.slice(text[colon + 1] === ' ' ? colon + 2 : colon + 1);
      const name = colon === -1 ? text : text.slice(0, colon);
      if (name === 'data') data = data === undefined ? value : `${data}\n${value}`;
      else if (name === 'event' && value !== '') event = value;
    },
    end: (_, emit) => dispatch(emit, true),
  };
}

function readItems(onHeader: ((header: TapeHeader) => void) | undefined): Codec<TapeLine, Frame> {
  // The header has the first line; blank lines are rare, and an error says its own.
  let line = 1;
  return {
    feed(read, emit) {
      if (read.type === 'header') return onHeader?.(read.header);
      line += 1;
      if (read.type === 'item') return emit({ type: 'value', line, value: read.item.item, t: read.item.t });
      const { type, message } = read.error;
      line = read.error.line;
      emit(problemFrame(line, type === 'torn' ? 'cut' : type === 'oversized' ? 'size' : 'json', '', message));
    },
    end() {},
  };
}

/** A document is held whole: it is a history or an answer, not a stream. */
function readDocument(): Codec<Uint8Array, Frame> {
  const decoder = new TextDecoder();
  let text = '';
  let isTooLong = false;
  return {
    feed(bytes) {
      isTooLong ||= text.length > maxLineLength;
      if (!isTooLong) text += decoder.decode(bytes, { stream: true });
    },
    end(_, emit) {
      if (isTooLong) return emit(problemFrame(1, 'size'));
      let value: unknown;
      try {
        value = JSON.parse((text + decoder.decode()).replace(/^\ufeff/, ''));
      } catch (error) {
        return emit(problemFrame(1, 'json', text.slice(0, 200), `It is no JSON: ${(error as Error).message}`));
      }
      for (const item of itemsOf(value)) emit({ type: 'value', line: 1, value: item });
    },
  };
}

/** A list of items, an object around one (an answer with its events, a request with its messages), or a single item. */
export function itemsOf(value: unknown): unknown[] {
  if (Array.isArray(value)) return value;
  const { messages, events, type, role, event } = (value ?? {}) as { [key: string]: unknown };
  const list = messages ?? events;
  return Array.isArray(list) && type === undefined && role === undefined && event === undefined ? list : [value];
}
